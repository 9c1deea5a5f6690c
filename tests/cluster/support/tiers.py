"""The tests that are in every run, and those that are in the long tier only (scripts/test.sh
--long)."""

import os
import unittest

IS_LONG = os.environ.get("SYNERGY_TIER") == "long"

# Marks a test, or a class of tests, that proves more of the same.
long = unittest.skipUnless(IS_LONG, "of the long tier: scripts/test.sh --long")
