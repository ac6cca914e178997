PRAGMA application_id = 1246839371;
PRAGMA user_version = 1;
BEGIN TRANSACTION;
CREATE TABLE "_sqlite_migrations" (
   "id" INTEGER PRIMARY KEY,
   "migration_set" TEXT,
   "name" TEXT,
   "applied_at" TEXT
) STRICT;
INSERT INTO "_sqlite_migrations" VALUES(1,'junqi_book','version_1','2026-11-16 03:41:55.599711+00:00');
CREATE TABLE change_rows (
    change_id INTEGER NOT NULL REFERENCES changes (id) ON DELETE CASCADE,
    table_name TEXT NOT NULL,
    first_id INTEGER NOT NULL,
    last_id INTEGER NOT NULL,
    before TEXT,
    after TEXT,
    PRIMARY KEY (change_id, table_name, first_id)
) STRICT, WITHOUT ROWID
;
INSERT INTO "change_rows" VALUES(1,'evidence',1,2,NULL,NULL);
INSERT INTO "change_rows" VALUES(1,'layout_tags',1,3,NULL,NULL);
INSERT INTO "change_rows" VALUES(1,'layouts',1,3,NULL,NULL);
INSERT INTO "change_rows" VALUES(1,'openings',1,2,NULL,NULL);
INSERT INTO "change_rows" VALUES(1,'payoffs',1,1,NULL,NULL);
INSERT INTO "change_rows" VALUES(1,'runs',1,1,NULL,NULL);
INSERT INTO "change_rows" VALUES(2,'games',1,1,NULL,NULL);
INSERT INTO "change_rows" VALUES(3,'layouts',2,2,'{"id": 2, "layout": "cbacddeeffggghhhiiijjkklj", "name": "", "origin": "human", "role": "both", "weight": 0.25, "moves": "both", "enabled": 1, "notes": "weak on the left\nlost twice", "created": "2026-11-16T03:41:55Z", "run_id": null}','{"id": 2, "layout": "cbacddeeffggghhhiiijjkklj", "name": "", "origin": "human", "role": "both", "weight": 0.25, "moves": "second", "enabled": 1, "notes": "weak on the left\nlost twice", "created": "2026-11-16T03:41:55Z", "run_id": null}');
INSERT INTO "change_rows" VALUES(4,'layouts',3,3,'{"id": 3, "layout": "cdgickgefkfebiahjdigjljhh", "name": "左翼", "origin": "human", "role": "opponent", "weight": 0.0, "moves": "both", "enabled": 1, "notes": "", "created": "2026-11-16T03:41:55Z", "run_id": null}','{"id": 3, "layout": "cdgickgefkfebiahjdigjljhh", "name": "左翼", "origin": "human", "role": "opponent", "weight": 0.0, "moves": "both", "enabled": 0, "notes": "", "created": "2026-11-16T03:41:55Z", "run_id": null}');
INSERT INTO "change_rows" VALUES(5,'layout_tags',2,2,'{"id": 2, "layout_id": 1, "tag": "old"}',NULL);
CREATE TABLE changes (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    made TEXT NOT NULL,
    what TEXT NOT NULL,
    summary TEXT NOT NULL,
    version TEXT NOT NULL,
    undoes INTEGER REFERENCES changes (id)
) STRICT
;
INSERT INTO "changes" VALUES(1,'2026-11-16T03:41:55Z','make a sample','1 run added, 3 layouts added, 3 tags added, 2 scores added, 1 payoff added, 2 opening moves added','0.1.0',NULL);
INSERT INTO "changes" VALUES(2,'2026-11-16T03:41:55Z','add games','1 game added','0.1.0',NULL);
INSERT INTO "changes" VALUES(3,'2026-11-16T03:41:55Z','set moves of layouts','1 layout changed','0.1.0',NULL);
INSERT INTO "changes" VALUES(4,'2026-11-16T03:41:55Z','set enabled of layouts','1 layout changed','0.1.0',NULL);
INSERT INTO "changes" VALUES(5,'2026-11-16T03:41:55Z','untag layouts','1 tag removed','0.1.0',NULL);
CREATE TABLE evidence (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    layout_id INTEGER NOT NULL REFERENCES layouts (id) ON DELETE CASCADE,
    kind TEXT NOT NULL DEFAULT 'fresh' CHECK (kind IN ('fresh', 'selection', 'attack')),
    opponents TEXT NOT NULL,
    judge TEXT NOT NULL,
    seed INTEGER CHECK (seed >= 0),
    games INTEGER NOT NULL CHECK (games > 0),
    wins INTEGER NOT NULL CHECK (wins >= 0),
    draws INTEGER NOT NULL CHECK (draws >= 0),
    losses INTEGER NOT NULL CHECK (losses >= 0),
    score REAL NOT NULL,
    error REAL NOT NULL CHECK (error >= 0 AND error < 1e300),
    version TEXT NOT NULL DEFAULT '',
    command TEXT NOT NULL DEFAULT '',
    created TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')),
    run_id INTEGER REFERENCES runs (id) ON DELETE SET NULL,
    CHECK (wins + draws + losses = games),
    CHECK (abs(score - (wins + 0.5 * draws) / games) < 1e-9)
) STRICT
;
INSERT INTO "evidence" VALUES(1,1,'fresh','random:10','policy',7,100,60,10,30,0.65,0.05,'0.1.0','junqi book evaluate abccddeeffggghhhiiijjkklj --panel random:10 --games 100 --seed 7','2026-11-16T03:41:55Z',NULL);
INSERT INTO "evidence" VALUES(2,2,'fresh','random:10','policy',7,100,40,0,60,0.4,0.05,'','','2026-11-16T03:41:55Z',NULL);
CREATE TABLE games (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    digest TEXT NOT NULL UNIQUE CHECK (digest <> ''),
    played TEXT NOT NULL DEFAULT '',
    side TEXT CHECK (side IN ('red', 'black')),
    opponent TEXT NOT NULL DEFAULT '',
    result TEXT NOT NULL DEFAULT '*' CHECK (result IN ('1-0', '0-1', '1/2-1/2', '*')),
    reason TEXT NOT NULL DEFAULT '',
    plies INTEGER NOT NULL DEFAULT 0 CHECK (plies >= 0),
    layout_id INTEGER REFERENCES layouts (id) ON DELETE SET NULL,
    seen TEXT NOT NULL DEFAULT '' CHECK (seen = '' OR length(seen) = 25),
    source TEXT NOT NULL DEFAULT '',
    notes TEXT NOT NULL DEFAULT '',
    created TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')),
    record TEXT NOT NULL
) STRICT
;
INSERT INTO "games" VALUES(1,'17ed82c80edde157bed36580e3177359','2026-11-16','red','South','1-0','flag',73,NULL,'haifiefickgbgchgddjkehjlj','docs/example.junqi','a "quoted" note
and 军棋','2026-11-16T03:41:55Z','[Event "Example"]
[Date "2026-11-16"]
[Red "North"]
[Black "South"]
[Rules "steps=31 steps_loser=mover flag_first=yes time=1800"]
[Seed "13"]
[RedLayout "ifbhdedikhakgegghcjfcijlj"]
[BlackLayout "haifiefickgbgchgddjkehjlj"]
[RedClock "2.59"]
[BlackClock "1.54"]
[Result "1-0"]
[Reason "flag"]

  1. G2F2+ (0.01)      F3F2+ (0.01)
  2. G4F4+ (0.03)      F2F4+ (0.02)
  3. K4J3 (0.02)       F4H4+ (0.02)
  4. I4H4=@A1 (0.02)   E4I4 (0.03)
  5. I3I4+ (0.03)      D4H4 (0.02)
  6. I4H4+ (0.02)      C4F4 (0.04)
  7. H4F4+ (0.04)      B4E4 (0.05)
  8. F4F1+ (0.04)      E4I4 (0.05)
  9. F1F0+ (0.05)      B2C3 (0.03)
 10. F0E0+ (0.05)      E2E3 (0.05)
 11. E0D0+ (0.05)      I4H3 (0.04)
 12. D0D1+ (0.08)      C0F0 (0.06)
 13. J4B4 (0.06)       C3B4+ (0.05)
 14. D1E1 (0.04)       B4K4 (0.06)
 15. E1F0+ (0.04)      B0F0=@L3 (0.07)
 16. G0B3- (0.07)      H3H2- (0.07)
 17. H0B0 (0.06)       A4B4 (0.05)
 18. J3I2 (0.07)       B4I4 (0.06)
 19. B0C1 (0.06)       I4J3 (0.05)
 20. I0B0 (0.06)       J3J2= (0.06)
 21. J0D0 (0.11)       K4J3 (0.05)
 22. K0F0 (0.07)       B3C3 (0.04)
 23. F0E1 (0.07)       J3K2- (0.04)
 24. B0A0= (0.08)      E3F4 (0.03)
 25. D0B0 (0.1)        F4K4 (0.05)
 26. C1C2- (0.1)       K4J3 (0.05)
 27. B0C1 (0.08)       J3K3- (0.04)
 28. I2H1 (0.08)       C2D2 (0.03)
 29. L0K0 (0.08)       D2E2 (0.03)
 30. K0B0 (0.14)       E2E3 (0.04)
 31. K2J1 (0.13)       E3F3 (0.05)
 32. G3G2 (0.15)       D3D4 (0.04)
 33. E1D2 (0.13)       D4K4 (0.06)
 34. C1B1- (0.11)      K4K3= (0.05)
 35. D2C1 (0.1)        C3D3 (0.03)
 36. B0A0 (0.09)       D3E3 (0.02)
 37. A0A1+ (0.07)
1-0

');
CREATE TABLE layout_tags (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    layout_id INTEGER NOT NULL REFERENCES layouts (id) ON DELETE CASCADE,
    tag TEXT NOT NULL CHECK (tag <> ''),
    UNIQUE (layout_id, tag)
) STRICT
;
INSERT INTO "layout_tags" VALUES(1,1,'mine');
INSERT INTO "layout_tags" VALUES(3,3,'mine');
CREATE TABLE layouts (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    layout TEXT NOT NULL UNIQUE CHECK (length(layout) = 25 AND layout NOT GLOB '*[^a-l]*'),
    name TEXT NOT NULL DEFAULT '',
    origin TEXT NOT NULL DEFAULT 'imported'
        CHECK (origin IN ('evolved', 'human', 'imported', 'seen')),
    role TEXT NOT NULL DEFAULT 'both' CHECK (role IN ('own', 'opponent', 'both')),
    weight REAL NOT NULL DEFAULT 0 CHECK (weight >= 0 AND weight < 1e300),
    moves TEXT NOT NULL DEFAULT 'both' CHECK (moves IN ('both', 'first', 'second')),
    enabled INTEGER NOT NULL DEFAULT 1 CHECK (enabled IN (0, 1)),
    notes TEXT NOT NULL DEFAULT '',
    created TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')),
    run_id INTEGER REFERENCES runs (id) ON DELETE SET NULL
) STRICT
;
INSERT INTO "layouts" VALUES(1,'abccddeeffggghhhiiijjkklj','Wall','evolved','both',0.75,'both',1,'','2026-11-16T03:41:55Z',1);
INSERT INTO "layouts" VALUES(2,'cbacddeeffggghhhiiijjkklj','','human','both',0.25,'second',1,'weak on the left
lost twice','2026-11-16T03:41:55Z',NULL);
INSERT INTO "layouts" VALUES(3,'cdgickgefkfebiahjdigjljhh','左翼','human','opponent',0.0,'both',0,'','2026-11-16T03:41:55Z',NULL);
CREATE TABLE openings (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    layout_id INTEGER NOT NULL REFERENCES layouts (id) ON DELETE CASCADE,
    key TEXT NOT NULL CHECK (key <> ''),
    move TEXT NOT NULL CHECK (move GLOB '[A-L][0-4][A-L][0-4]'),
    ply INTEGER NOT NULL DEFAULT 0 CHECK (ply >= 0),
    visits INTEGER NOT NULL DEFAULT 0 CHECK (visits >= 0),
    score REAL CHECK (score BETWEEN 0 AND 1),
    error REAL CHECK (error >= 0 AND error < 1e300),
    weight REAL NOT NULL DEFAULT 1 CHECK (weight >= 0 AND weight < 1e300),
    enabled INTEGER NOT NULL DEFAULT 1 CHECK (enabled IN (0, 1)),
    notes TEXT NOT NULL DEFAULT '',
    source TEXT NOT NULL DEFAULT '',
    run_id INTEGER REFERENCES runs (id) ON DELETE SET NULL,
    UNIQUE (layout_id, key, move)
) STRICT
;
INSERT INTO "openings" VALUES(1,1,'start','G0F0',0,50,0.55,0.02,0.75,1,'','search:5x24',NULL);
INSERT INTO "openings" VALUES(2,1,'start','G2F2',0,20,0.5,0.05,0.25,0,'too slow','',NULL);
CREATE TABLE payoffs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    layout_id INTEGER NOT NULL REFERENCES layouts (id) ON DELETE CASCADE,
    opponent_id INTEGER NOT NULL REFERENCES layouts (id) ON DELETE CASCADE,
    judge TEXT NOT NULL,
    seed INTEGER CHECK (seed >= 0),
    games INTEGER NOT NULL CHECK (games > 0),
    wins INTEGER NOT NULL CHECK (wins >= 0),
    draws INTEGER NOT NULL CHECK (draws >= 0),
    losses INTEGER NOT NULL CHECK (losses >= 0),
    score REAL NOT NULL,
    error REAL NOT NULL CHECK (error >= 0 AND error < 1e300),
    version TEXT NOT NULL DEFAULT '',
    command TEXT NOT NULL DEFAULT '',
    created TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')),
    run_id INTEGER REFERENCES runs (id) ON DELETE SET NULL,
    CHECK (layout_id <> opponent_id),
    CHECK (wins + draws + losses = games),
    CHECK (abs(score - (wins + 0.5 * draws) / games) < 1e-9)
) STRICT
;
INSERT INTO "payoffs" VALUES(1,1,2,'policy',3,10,6,1,3,0.65,0.15,'','','2026-11-16T03:41:55Z',NULL);
CREATE TABLE runs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL UNIQUE CHECK (key <> ''),
    command TEXT NOT NULL,
    settings TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(settings)),
    seed INTEGER CHECK (seed >= 0),
    started TEXT NOT NULL,
    seconds REAL CHECK (seconds >= 0),
    games INTEGER CHECK (games >= 0),
    machine TEXT NOT NULL DEFAULT '',
    version TEXT NOT NULL DEFAULT '',
    status TEXT NOT NULL DEFAULT 'running'
        CHECK (status IN ('running', 'done', 'interrupted', 'failed')),
    notes TEXT NOT NULL DEFAULT ''
) STRICT
;
INSERT INTO "runs" VALUES(1,'evolve-20261116-030126-9f2c','junqi layout evolve --seed 1','{"rounds": 3}',1,'2026-11-16T03:41:55Z',2.5,90,'','','running','');
CREATE UNIQUE INDEX "idx__sqlite_migrations_migration_set_name"
    ON "_sqlite_migrations" ("migration_set", "name");
CREATE INDEX layouts_in_mixture ON layouts (layout)
    WHERE enabled = 1 AND weight > 0 AND role <> 'opponent'
;
CREATE INDEX layouts_by_name ON layouts (name) WHERE name <> '';
CREATE INDEX layout_tags_by_tag ON layout_tags (tag, layout_id);
CREATE UNIQUE INDEX evidence_once ON evidence
    (layout_id, kind, judge, opponents, coalesce(seed, -1), games, version, command)
;
CREATE UNIQUE INDEX payoffs_once ON payoffs
    (layout_id, opponent_id, judge, coalesce(seed, -1), games, version, command)
;
CREATE INDEX payoffs_by_opponent ON payoffs (opponent_id);
CREATE INDEX games_by_layout ON games (layout_id);
CREATE VIEW mixture AS
    SELECT id, layout, name, weight,
        weight / sum(weight) OVER () AS share,
        moves, origin, notes
    FROM layouts
    WHERE enabled = 1 AND weight > 0 AND role <> 'opponent'
    ORDER BY weight DESC, layout;
CREATE VIEW layout_scores AS
    SELECT layouts.id AS layout_id, layouts.layout, layouts.name, evidence.kind, evidence.judge,
        evidence.opponents, count(*) AS scores, sum(evidence.games) AS games,
        sum(wins) AS wins, sum(draws) AS draws, sum(losses) AS losses,
        (sum(wins) + 0.5 * sum(draws)) / sum(evidence.games) AS score,
        sqrt(sum(error * error * evidence.games * evidence.games)) / sum(evidence.games) AS error
    FROM evidence JOIN layouts ON layouts.id = evidence.layout_id
    GROUP BY evidence.layout_id, evidence.kind, evidence.judge, evidence.opponents;
CREATE VIEW payoff_matrix AS
    WITH told (layout_id, opponent_id, judge, games, points, variance) AS (
        SELECT layout_id, opponent_id, judge, games, wins + 0.5 * draws,
            error * error * games * games
        FROM payoffs
        UNION ALL
        SELECT opponent_id, layout_id, judge, games, losses + 0.5 * draws,
            error * error * games * games
        FROM payoffs
    )
    SELECT a.layout AS layout, b.layout AS opponent, judge, sum(games) AS games,
        sum(points) / sum(games) AS score, sqrt(sum(variance)) / sum(games) AS error
    FROM told JOIN layouts AS a ON a.id = layout_id JOIN layouts AS b ON b.id = opponent_id
    GROUP BY layout_id, opponent_id, judge;
CREATE VIEW opening_moves AS
    SELECT openings.id, layouts.layout, openings.ply, openings.key, openings.move,
        openings.visits, openings.score, openings.error, openings.weight, openings.enabled,
        openings.source, openings.notes, runs.key AS run
    FROM openings JOIN layouts ON layouts.id = openings.layout_id
        LEFT JOIN runs ON runs.id = openings.run_id;
CREATE VIEW recent_changes AS
    SELECT id, made, what, summary, undoes
    FROM changes ORDER BY id DESC LIMIT 100;
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('changes',5);
INSERT INTO "sqlite_sequence" VALUES('runs',1);
INSERT INTO "sqlite_sequence" VALUES('layouts',3);
INSERT INTO "sqlite_sequence" VALUES('layout_tags',3);
INSERT INTO "sqlite_sequence" VALUES('evidence',2);
INSERT INTO "sqlite_sequence" VALUES('payoffs',1);
INSERT INTO "sqlite_sequence" VALUES('openings',2);
INSERT INTO "sqlite_sequence" VALUES('games',1);
COMMIT;
