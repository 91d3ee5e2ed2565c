"""The programs are run by a test, not collected."""

collect_ignore_glob = ["programs/*"]
