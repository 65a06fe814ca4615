"""What the launcher refuses to do, said in one sentence."""


class LabError(Exception):
    """The lab could not be set up. The text is a sentence for the user."""


class Interrupted(Exception):
    """The user or the system asked the launcher to stop."""
