"""What a till must do."""

import unittest

from till import change, discount, total


class Total(unittest.TestCase):
    def test_total(self):
        self.assertEqual(total([100, 250, 5]), 355)


class Discount(unittest.TestCase):
    def test_discount(self):
        self.assertEqual(discount(1000, 20), 800)


class Change(unittest.TestCase):
    def test_change(self):
        self.assertEqual(change(500, 230), [200, 50, 20])


if __name__ == "__main__":
    unittest.main()
