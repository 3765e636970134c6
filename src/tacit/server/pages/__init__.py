"""The pages: rendered here, from `report/`; forms that work without a script."""
