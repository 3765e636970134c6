"""The service: many analysts, one budget, a page to ask on. Guide: docs/guides/service.md."""
