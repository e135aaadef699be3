#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The statistics of nuioa compare: the exact test against its definition, the verdicts, how often
they are wrong, and what can be seen."""
import itertools
import math
import os
import random
import sys
from importlib.util import module_from_spec, spec_from_file_location

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
spec = spec_from_file_location("compare", HERE + "/../../tools/compare.py")
compare = module_from_spec(spec)
spec.loader.exec_module(compare)
draw = random.Random(88172645463325252)


def by_definition(logs):
    """p, for few pairs."""
    least = abs(sum(logs)) - 1e-12
    turned = [abs(sum(map(float.__mul__, logs, signs))) >= least
              for signs in itertools.product((1.0, -1.0), repeat=len(logs))]
    return sum(turned) / len(turned)


def one(factor, noise, typed):
    """The verdict on a program whose runs vary by `noise`, and one that takes `factor` times as
    long."""
    without, with_, wanted = [], [], typed or 6
    while len(without) < wanted:
        without.append(math.exp(noise * draw.gauss(0, 1)))
        with_.append(factor * math.exp(noise * draw.gauss(0, 1)))
        if len(without) == wanted:
            verdict = compare.Verdict(without, with_, typed)
            wanted = typed or verdict.next_look()
    return verdict


def share(word, factor, noise, typed, comparisons):
    """Which share of so many comparisons says `word`."""
    return sum(one(factor, noise, typed).word == word for _ in range(comparisons)) / comparisons


def test_exact():
    """p, and the ends of the interval: beyond them the same test refuses."""
    for number in range(60):
        count = 6 + number % 5
        logs = [draw.gauss(0, 1) for _ in range(count)]
        if number % 4 == 0:  # equal logarithms, whose sums are ties
            logs = [-0.1, 0.2] + [draw.choice((-0.1, 0.2)) for _ in range(count - 2)]
        without = [1 + draw.random() for _ in logs]
        v = compare.Verdict(without, [a * math.exp(x) for a, x in zip(without, logs)], count)
        assert abs(v.p - by_definition(logs)) < 1e-9, (v.p, logs)
        for end, step in zip(v.interval(), (-1e-6, 1e-6)):
            assert by_definition([x - math.log(end) - step for x in logs]) <= 0.05, logs
            assert by_definition([x - math.log(end) + step for x in logs]) > 0.05, logs


def test_words():
    more, less = [10 + 0.01 * i for i in range(24)], [9 + 0.02 * i for i in range(24)]
    v = compare.Verdict(more[:6], less[:6], None)
    assert (v.word, v.p, v.next_look()) == ("faster", 2 / 64, 6)
    low, high = v.interval()
    assert 0.9 < v.ratio < 0.91 and low < v.ratio < high < 1
    v = compare.Verdict(less, more, 24)
    assert v.word == "slower" and v.interval()[0] > 1
    v = compare.Verdict(more[:6], more[:6], None)
    assert (v.word, v.ratio, v.next_look()) == ("cannot tell", 1, 6)
    v = compare.Verdict([10] * 6, [9.5, 9.4, 9.6, 10.2, 9.5, 9.4], None)
    assert (v.word, v.next_look()) == ("cannot tell", 12)


def test_equal_programs():
    """As many wrong verdicts as promised, whatever the noise."""
    for noise in 0.01, 0.03, 0.1:
        right = share("cannot tell", 1, noise, None, 1000)
        assert right > 0.935, (noise, right)
    for typed in 6, 15, 24:
        right = share("cannot tell", 1, 0.03, typed, 400)
        assert right > 0.91, (typed, right)


def test_power():
    """What is said to be seen is seen by 4 of 5 comparisons. The noise is that of runs; a pair has
    sqrt(2) times as much."""
    for typed in None, 6, 15, 24:
        seen = sum(one(1, 0.02, typed).seen for _ in range(200)) / 200
        right = share("faster", math.exp(-seen), 0.02, typed, 800)
        assert abs(right - 0.8) <= 0.05, (typed, seen, right)


tests = [test_exact, test_words, test_equal_programs, test_power]
failed = 0
for number, test in enumerate(tests, 1):
    try:
        test()
        print("ok %d - %s" % (number, test.__name__), flush=True)
    except AssertionError as e:
        failed = 1
        print("not ok %d - %s\n#   %s" % (number, test.__name__, e), flush=True)
print("1..%d" % len(tests))
sys.exit(failed)
