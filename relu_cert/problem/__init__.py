"""The constrained group lasso (CGL), the one problem type that all later stages take."""
