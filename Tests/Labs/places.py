"""Where things are."""

import os

LABS = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(LABS))
VECTORS = os.path.join(ROOT, "Tests", "Vectors")
