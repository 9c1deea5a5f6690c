"""Marks tests that run only in the long tier (scripts/test.sh --long)."""

import os
import unittest

IS_LONG = os.environ.get("SYNERGY_TIER") == "long"

# Marks a test, or a class of tests, that adds evidence for what another test already checks.
long = unittest.skipUnless(IS_LONG, "of the long tier: scripts/test.sh --long")
