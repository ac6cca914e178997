"""What was learned from games, as the kernels take it: `junqi/data/value.npz`.

Made by `scripts/learn_value.py`.
"""

from functools import cache
from pathlib import Path

import numpy as np

from junqi.kernels.value import Net

_FILE = Path(__file__).parent / "data" / "value.npz"


@cache
def learned_net() -> Net:
    """The net that values positions."""
    with np.load(_FILE) as stored:
        return Net(*(stored[name] for name in Net._fields))
