// The flow of a partner with the client that openapi-generator makes for Go.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	vigil "github.com/GIT_USER_ID/GIT_REPO_ID"
)

func check(err error) {
	if problem, ok := err.(*vigil.GenericOpenAPIError); ok {
		log.Fatal(problem, " ", string(problem.Body()))
	}
	if err != nil {
		log.Fatal(err)
	}
}

func main() {
	uid := os.Getenv("FLOW_UID")
	configuration := vigil.NewConfiguration()
	configuration.Servers = vigil.ServerConfigurations{{URL: os.Getenv("VIGIL_URL")}}
	client := vigil.NewAPIClient(configuration)
	token, _, err := client.OAuthAPI.OauthToken(context.Background()).GrantType("client_credentials").
		ClientId(os.Getenv("VIGIL_CLIENT_ID")).ClientSecret(os.Getenv("VIGIL_CLIENT_SECRET")).Execute()
	check(err)
	fmt.Println("token", token.ExpiresIn)
	ctx := context.WithValue(context.Background(), vigil.ContextAccessToken, token.AccessToken)

	person := vigil.NewUserRequest(os.Getenv("FLOW_EMAIL"))
	person.SetRole(vigil.USER_REQUEST_ROLE_USER)
	user, _, err := client.UsersAPI.AuthUsersCreate(ctx).UserRequest(*person).Execute()
	check(err)
	fmt.Println("user", user.Email)

	phone := vigil.NewDeviceRequest(uid)
	phone.SetDeviceModelSlug("osmand-generic")
	phone.SetTags([]string{"a", "b"})
	_, _, err = client.DevicesAPI.DevicesCreate(ctx).DeviceRequest(*phone).Execute()
	check(err)
	devices, _, err := client.DevicesAPI.DevicesList(ctx).Ordering([]string{"-created_at", "uid"}).
		Tags([]string{"a", "c"}).Page(1).Execute()
	check(err)
	fmt.Println("device", devices.Results[0].Uid)

	request := vigil.NewAssignRequest(user.Id)
	request.SetRole(vigil.ASSIGN_REQUEST_ROLE_OWNER)
	assignment, _, err := client.AssignmentsAPI.DevicesAssignCreate(ctx, uid).AssignRequest(*request).Execute()
	check(err)
	fmt.Println("assignment", assignment.Role)

	fence, _, err := client.GeofencesAPI.GeofencesCreate(ctx).
		GeofenceRequest(*vigil.NewGeofenceRequest("Home", *vigil.NewGeofenceCenter(41.9, 12.5), 150)).Execute()
	check(err)
	linked, _, err := client.GeofencesAPI.GeofencesDevicesCreate(ctx, fence.Id).
		GeofenceLinkRequest(*vigil.NewGeofenceLinkRequest([]string{uid})).Execute()
	check(err)
	fmt.Println("geofence", fence.Name, linked.Linked)

	for {
		found, _, err := client.LocationsAPI.DevicesLocationsList(ctx, uid).Source([]string{"gps", "unknown"}).
			Ordering("-ts").Execute()
		check(err)
		if len(found.Results) > 0 {
			place := found.Results[0]
			fmt.Println("location", place.Lat, place.Lng, place.Ts.Year())
			break
		}
		time.Sleep(500 * time.Millisecond)
	}

	for {
		page, _, err := client.OutboundEventsAPI.PartnerOutboundEventsList(ctx).Limit(500).
			Types([]string{"alarm.sos", "location.update", "device.online"}).Execute()
		check(err)
		for _, row := range page.Data {
			if event := row.AlarmSosEvent; event != nil && event.Device.Uid == uid {
				fmt.Println("event", event.Type, event.Data.Severity, event.Data.Location.Get().Lat)
				return
			}
		}
		time.Sleep(500 * time.Millisecond)
	}
}
