import { AccessOfDevice } from "../parts/access-of-device.tsx";
import { AccessOfPerson } from "../parts/access-of-person.tsx";
import { AdminPage } from "../parts/admin-page.tsx";
import { DeviceChoice } from "../parts/device-choice.tsx";
import { PersonChoice } from "../parts/person-choice.tsx";
import { setQuery, useQuery } from "../state/router.ts";
import { accessTexts as texts } from "../texts/access.ts";

/** Who may see whom: from a person to the devices, and from a device to the people. */
export function AccessPage() {
  const query = useQuery();
  const person = query.get("person") ?? "";
  const device = query.get("device") ?? "";
  return (
    <AdminPage title={texts("title")}>
      <p>{texts("intro")}</p>
      <div class="columns">
        <fieldset>
          <legend>{texts("byPerson")}</legend>
          <PersonChoice value={person} onChange={(id) => setQuery({ person: id, device: undefined })} />
        </fieldset>
        <fieldset>
          <legend>{texts("byDevice")}</legend>
          <DeviceChoice value={device} onChange={(uid) => setQuery({ device: uid, person: undefined })} />
        </fieldset>
      </div>
      {person !== "" && <AccessOfPerson key={person} id={person} />}
      {device !== "" && <AccessOfDevice key={device} uid={device} />}
    </AdminPage>
  );
}
