import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.*;
import org.openapitools.client.model.*;

/** The flow of a partner with the client that openapi-generator makes for Java. */
public class Flow {
  public static void main(String[] args) throws Exception {
    try {
      run();
    } catch (ApiException error) {
      System.err.println(error.getCode() + " " + error.getResponseBody());
      throw error;
    }
  }

  private static void run() throws Exception {
    String uid = System.getenv("FLOW_UID");
    ApiClient client = new ApiClient().setBasePath(System.getenv("VIGIL_URL"));
    OAuthToken token = new OAuthApi(client)
        .oauthToken("client_credentials", null, System.getenv("VIGIL_CLIENT_ID"), System.getenv("VIGIL_CLIENT_SECRET"));
    client.setAccessToken(token.getAccessToken());
    System.out.println("token " + token.getExpiresIn());

    UserRequest person = new UserRequest().email(System.getenv("FLOW_EMAIL")).role(UserRequestRoleEnum.USER_REQUEST_ROLE_USER);
    User user = new UsersApi(client).authUsersCreate(person, null);
    System.out.println("user " + user.getEmail());

    DevicesApi devices = new DevicesApi(client);
    DeviceRequest phone = new DeviceRequest().uid(uid).deviceModelSlug("osmand-generic").tags(Arrays.asList("a", "b"));
    devices.devicesCreate(phone, null);
    PaginatedDeviceList newest = devices
        .devicesList(null, null, null, Arrays.asList("a", "c"), 1, null, Arrays.asList("-created_at", "uid"), null);
    System.out.println("device " + newest.getResults().get(0).getUid());

    AssignRequest request = new AssignRequest().userId(user.getId()).role(AssignRequestRoleEnum.ASSIGN_REQUEST_ROLE_OWNER);
    Assignment assignment = new AssignmentsApi(client).devicesAssignCreate(uid, request, null);
    System.out.println("assignment " + assignment.getRole());

    GeofencesApi geofences = new GeofencesApi(client);
    GeofenceDetail fence = geofences.geofencesCreate(
        new GeofenceRequest().name("Home").center(new GeofenceCenter().lat(41.9).lng(12.5)).radius(150.0), null);
    GeofenceLinkResult linked = geofences
        .geofencesDevicesCreate(fence.getId(), new GeofenceLinkRequest().addDeviceUidsItem(uid), null);
    System.out.println("geofence " + fence.getName() + " " + linked.getLinked());

    LocationsApi locations = new LocationsApi(client);
    List<Location> found = Collections.<Location>emptyList();
    while (found.isEmpty()) {
      Thread.sleep(500);
      found = locations
          .devicesLocationsList(uid, Arrays.asList("gps", "unknown"), null, null, null, null, null, null, "-ts", null)
          .getResults();
    }
    Location place = found.get(0);
    System.out.println("location " + place.getLat() + " " + place.getLng() + " " + place.getTs().getYear());

    OutboundEventsApi events = new OutboundEventsApi(client);
    List<String> types = Arrays.asList("alarm.sos", "location.update", "device.online");
    while (true) {
      for (OutboundEvent row : events.partnerOutboundEventsList(null, 500, types, null, null).getData()) {
        if (!(row.getActualInstance() instanceof AlarmSosEvent)) continue;
        AlarmSosEvent event = (AlarmSosEvent) row.getActualInstance();
        AlarmData data = event.getData();
        if (event.getDevice().getUid().equals(uid)) {
          System.out.println("event " + event.getType() + " " + data.getSeverity() + " " + data.getLocation().getLat());
          return;
        }
      }
      Thread.sleep(500);
    }
  }
}
