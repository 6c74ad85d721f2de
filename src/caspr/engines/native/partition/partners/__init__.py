"""Problems with demands: nodes that must share their cluster with one of some partners."""
