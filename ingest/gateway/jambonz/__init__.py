"""jambonz `listen`: one message about the call, then samples."""
