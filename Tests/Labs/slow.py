"""What `make test` leaves to `make test-all`.

A test or a class that takes many seconds of a processor is `@slow`. So is one that looks at the files of a release
build, which `make test` does not make. A whole suite says IS_SLOW = True instead.
"""


def slow(test):
    test.isSlow = True
    return test
