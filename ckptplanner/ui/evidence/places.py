"""The places of the pages of the Evidence view among its tabs; the window's menu knows them before the view is made."""

FILES, FAILURES, LOGS, PUBLISHED = range(4)
