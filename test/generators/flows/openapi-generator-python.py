"""The flow of a partner with the client that openapi-generator makes for Python."""

import os
import time

import openapi_client as api

uid = os.environ["FLOW_UID"]
configuration = api.Configuration(host=os.environ["VIGIL_URL"])
with api.ApiClient(configuration) as client:
    token = api.OAuthApi(client).oauth_token(
        "client_credentials",
        client_id=os.environ["VIGIL_CLIENT_ID"],
        client_secret=os.environ["VIGIL_CLIENT_SECRET"],
    )
    configuration.access_token = token.access_token
    print("token", token.expires_in)

    email = os.environ["FLOW_EMAIL"]
    user = api.UsersApi(client).auth_users_create(
        api.UserRequest(email=email, first_name="Anna", role=api.UserRequestRoleEnum.USER_REQUEST_ROLE_USER)
    )
    print("user", user.email)

    devices = api.DevicesApi(client)
    devices.devices_create(api.DeviceRequest(uid=uid, device_model_slug="osmand-generic", name="Phone", tags=["a", "b"]))
    newest = devices.devices_list(ordering=["-created_at", "uid"], tags=["a", "c"], page=1).results[0]
    print("device", newest.uid)

    assignment = api.AssignmentsApi(client).devices_assign_create(
        uid,
        api.AssignRequest(user_id=user.id, role=api.AssignRequestRoleEnum.ASSIGN_REQUEST_ROLE_OWNER),
    )
    print("assignment", assignment.role.value)

    geofences = api.GeofencesApi(client)
    fence = geofences.geofences_create(
        api.GeofenceRequest(name="Home", center=api.GeofenceCenter(lat=41.9, lng=12.5), radius=150)
    )
    linked = geofences.geofences_devices_create(fence.id, api.GeofenceLinkRequest(device_uids=[uid]))
    print("geofence", fence.name, linked.linked, flush=True)

    locations = api.LocationsApi(client)
    while not (found := locations.devices_locations_list(uid, source=["gps", "unknown"], ordering="-ts").results):
        time.sleep(0.5)
    print("location", found[0].lat, found[0].lng, found[0].ts.year)

    events = api.OutboundEventsApi(client)
    while True:
        page = events.partner_outbound_events_list(limit=500, types=["alarm.sos", "location.update", "device.online"])
        for event in (row.actual_instance for row in page.data):
            if isinstance(event, api.AlarmSosEvent) and event.device.uid == uid:
                print("event", event.type, event.data.severity.value, event.data.location.lat)
                raise SystemExit(0)
        time.sleep(0.5)
