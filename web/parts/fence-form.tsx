import { useState } from "preact/hooks";
import { patch, post, remove } from "../api/client.ts";
import type { FleetDevice, GeofenceDetail } from "../api/types.ts";
import { session } from "../state/session.ts";
import { useSubmit } from "../state/submit.ts";
import { common } from "../texts/common.ts";
import { fenceTexts as texts } from "../texts/geofences.ts";
import { nameOf } from "./alarm-card.tsx";
import { maxRadiusM, minRadiusM } from "./circle-drawing.ts";
import { DeleteButton } from "./delete-button.tsx";
import { bodyOf, circleOf, type FenceDraft, type FenceScope, linkChanges } from "./fence-draft.ts";
import { Check, Choice, Field } from "./field.tsx";
import { Picker } from "./picker.tsx";
import { findDevices, findPeople } from "./picker-sources.ts";
import { ScheduleFields } from "./schedule-fields.tsx";
import { Failure } from "./states.tsx";

interface FenceFormProps {
  draft: FenceDraft;
  /** The links that are stored. */
  linked: readonly string[];
  devices: readonly FleetDevice[];
  onChange(draft: FenceDraft): void;
  /** It exists from now on, though its links may still fail. */
  onCreated(id: string): void;
  onDone(): void;
  onCancel(): void;
}

const shownFields = ["name", "radius", "center", "description", "dwell_threshold_seconds", "schedule", "user"];

/** A fence as numbers and words; the map beside it draws the same circle. */
export function FenceForm({ draft, linked, devices, onChange, onCreated, onDone, onCancel }: FenceFormProps) {
  const submission = useSubmit(shownFields);
  const [isTried, setTried] = useState(false);
  const change = (fields: Partial<FenceDraft>): void => onChange({ ...draft, ...fields });
  const placed = devices.filter(({ last_location }) => last_location !== null);

  async function save(): Promise<void> {
    const body = bodyOf(draft);
    if (!body) return;
    const { scope, person } = draft;
    const fence = draft.id
      ? await patch<GeofenceDetail>(`/api/v1/geofences/${draft.id}/`, body)
      : await post<GeofenceDetail>("/api/v1/geofences/", { ...body, scope, ...(scope === "user" && { user: person }) });
    if (!draft.id) onCreated(fence.id);
    if (scope === "device") {
      const changes = linkChanges(linked, draft.deviceUids);
      const path = `/api/v1/geofences/${fence.id}/devices/`;
      if (changes.linked.length > 0) await post(path, { device_uids: changes.linked });
      for (const uid of changes.unlinked) await remove(`${path}${uid}/`);
    }
    onDone();
  }
  const erase = (): Promise<void> => remove(`/api/v1/geofences/${draft.id}/`).then(onDone);
  const title = draft.id ? texts("editFence", { name: draft.name }) : texts("new");
  const isIncomplete = isTried && bodyOf(draft) === undefined;
  return (
    <form
      aria-label={title}
      onSubmit={(event) => {
        event.preventDefault();
        setTried(true);
        void submission.run(save);
      }}
    >
      <h2>{title}</h2>
      <p class="hint">{texts("drawHint")}</p>
      <Field
        label={common("name")}
        required
        maxLength={100}
        autocomplete="off"
        value={draft.name}
        onInput={(name) => change({ name })}
        problem={submission.problem("name")}
      />
      <Field
        label={texts("radius")}
        type="number"
        required
        min={minRadiusM}
        max={maxRadiusM}
        step="any"
        value={draft.radius}
        onInput={(radius) => change({ radius })}
        problem={submission.problem("radius")}
      />
      <div class="pair">
        <Field
          label={texts("latitude")}
          type="number"
          min={-90}
          max={90}
          step="any"
          value={draft.latitude}
          onInput={(latitude) => change({ latitude })}
          problem={submission.problem("center")}
        />
        <Field
          label={texts("longitude")}
          type="number"
          min={-180}
          max={180}
          step="any"
          value={draft.longitude}
          onInput={(longitude) => change({ longitude })}
        />
      </div>
      {isIncomplete && !circleOf(draft) && (
        <p class="problem" role="alert">
          {texts("noCircle")}
        </p>
      )}
      {placed.length > 0 && (
        <Choice
          label={texts("around")}
          value=""
          onChange={(uid) => {
            const at = placed.find((device) => device.uid === uid)?.last_location;
            if (at) change({ latitude: String(at.lat), longitude: String(at.lng) });
          }}
          options={[
            ["", texts("aroundNone")],
            ...placed.slice(0, 500).map((device) => [device.uid, nameOf(device, device.uid)] as const),
          ]}
        />
      )}
      <fieldset>
        <legend>{texts("reports")}</legend>
        <Check label={texts("enter")} checked={draft.enter} onChange={(enter) => change({ enter })} />
        <Check label={texts("exit")} checked={draft.exit} onChange={(exit) => change({ exit })} />
        <Check label={texts("dwell")} checked={draft.dwell} onChange={(dwell) => change({ dwell })} />
        {draft.dwell && (
          <Field
            label={texts("dwellMinutes")}
            type="number"
            required
            min={1}
            max={1440}
            step="any"
            value={draft.dwellMinutes}
            onInput={(dwellMinutes) => change({ dwellMinutes })}
            problem={submission.problem("dwell_threshold_seconds")}
          />
        )}
      </fieldset>
      <ScheduleFields
        schedule={draft.schedule}
        timezone={session.get()?.me.organization?.timezone ?? "UTC"}
        onChange={(schedule) => change({ schedule })}
        problem={submission.problem("schedule")}
      />
      <Choice<FenceScope>
        label={texts("scope")}
        value={draft.scope}
        disabled={draft.id !== undefined}
        {...(draft.id ? { hint: texts("scopeFixed") } : {})}
        onChange={(scope) => change({ scope })}
        options={[
          ["device", texts("scopeDevice")],
          ["user", texts("scopeUser")],
          ["org", texts("scopeOrg")],
        ]}
      />
      {draft.scope === "device" && (
        <Picker
          label={texts("devices")}
          find={findDevices}
          textOf={(uid) => devices.find((device) => device.uid === uid)?.name || undefined}
          chosen={draft.deviceUids}
          onChange={(deviceUids) => change({ deviceUids })}
        />
      )}
      {draft.scope === "user" && !draft.id && (
        <Picker
          label={texts("person")}
          isSingle
          find={findPeople}
          textOf={() => undefined}
          chosen={draft.person ? [draft.person] : []}
          onChange={([person]) => change({ person })}
          problem={submission.problem("user")}
        />
      )}
      <Field
        label={texts("description")}
        maxLength={500}
        autocomplete="off"
        value={draft.description}
        onInput={(description) => change({ description })}
        problem={submission.problem("description")}
      />
      <Check label={texts("active")} checked={draft.isActive} onChange={(isActive) => change({ isActive })} />
      {submission.failure !== undefined && <Failure error={submission.failure} />}
      <div class="actions">
        <button type="submit" class="primary" disabled={submission.isBusy}>
          {common("save")}
        </button>
        <button type="button" onClick={onCancel}>
          {common("cancel")}
        </button>
        {draft.id && (
          <span class="end">
            <DeleteButton disabled={submission.isBusy} onDelete={() => void submission.run(erase)} />
          </span>
        )}
      </div>
    </form>
  );
}
