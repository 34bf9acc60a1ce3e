"""Rules that are others for networks with several outputs."""
