"""All of OpenAPI, fuzzed: no fault, no status or shape that is not documented."""

from __future__ import annotations

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.server.conftest import Serve

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.thorough
def test_nothing_that_fits_the_description_is_a_fault(serve: Serve) -> None:
    served = serve()
    schema = schemathesis.openapi.from_asgi("/v1/openapi.json", served.app, headers={"Host": "127.0.0.1"})
    headers = {"Authorization": f"Bearer {served.owner}", "Host": "127.0.0.1:8417"}
    tried = 0
    for result in schema.get_all_operations():
        operation = result.ok()
        if operation.path == "/v1/tables/{table}/practice":
            continue  # draws each time: its refusals are those of plans

        @settings(max_examples=8, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
        @given(case=operation.as_strategy())
        def hold(case: schemathesis.Case) -> None:
            nonlocal tried
            tried += 1
            if "table" in (case.path_parameters or {}) and tried % 3:
                case.path_parameters["table"] = "visits"
            response = case.call(headers=headers)
            case.validate_response(response, checks=CHECKS)

        hold()
    assert tried > 70
