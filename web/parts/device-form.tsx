import { useState } from "preact/hooks";
import { getAll, patch, post, remove } from "../api/client.ts";
import type { Device, DeviceModel } from "../api/types.ts";
import { useLoaded } from "../state/loaded.ts";
import { session } from "../state/session.ts";
import { useSubmit } from "../state/submit.ts";
import { common } from "../texts/common.ts";
import { deviceListTexts as texts } from "../texts/devices.ts";
import { CapabilityOverrides } from "./capability-overrides.tsx";
import { DeleteButton } from "./delete-button.tsx";
import { parseTags } from "./device-filter.ts";
import { Choice, Field } from "./field.tsx";
import { Failure, Loading } from "./states.tsx";
import { ZoneField } from "./zone-field.tsx";

interface DeviceFormProps {
  /** Undefined: a new one. */
  device: Device | undefined;
  /** Of a new one, what is known already. */
  known?: { uid: string; protocol: string | undefined };
  onSaved(device: Device): void;
  onDeleted(device: Device): void;
  onCancel(): void;
}

const shownFields = ["uid", "device_model_slug", "name", "timezone", "tags", "phone_number", "terminal_id"];

/** With who makes it, where that is known and its name does not say so already. */
const modelName = ({ name, manufacturer }: DeviceModel): string =>
  manufacturer === "Various" || name.includes(manufacturer) ? name : `${manufacturer} ${name}`;

/** Registers a device, or changes what one is called and how it is found. */
export function DeviceForm({ device, known, onSaved, onDeleted, onCancel }: DeviceFormProps) {
  const models = useLoaded("models", () => getAll<DeviceModel>("/api/v1/models/?ordering=name&page_size=200"));
  const submission = useSubmit(shownFields);
  const [fields, setFields] = useState({
    uid: device?.uid ?? known?.uid ?? "",
    model: device?.device_model_slug ?? "",
    name: device?.name ?? "",
    timezone: device?.timezone ?? "",
    tags: device?.tags.join(", ") ?? "",
    phone: device?.phone_number ?? "",
    terminalId: device?.terminal_id ?? "",
  });
  const change = (name: keyof typeof fields) => (value: string) => setFields({ ...fields, [name]: value });
  if (models.kind === "loading") return <Loading />;
  if (models.kind === "failed") return <Failure error={models.error} onRetry={models.reload} />;
  const fitting = models.value.find(({ protocol_slug }) => protocol_slug === known?.protocol) ?? models.value[0];
  const model = fields.model === "" ? (fitting?.slug ?? "") : fields.model;

  const save = (): Promise<void> => {
    const { uid, name, timezone, phone, terminalId } = fields;
    const body = {
      device_model_slug: model,
      name: name.trim(),
      tags: parseTags(fields.tags),
      phone_number: phone.trim() || null,
      ...(timezone.trim() === "" ? {} : { timezone: timezone.trim() }),
      ...(terminalId.trim() === (device?.terminal_id ?? "") ? {} : { terminal_id: terminalId.trim() || null }),
    };
    const sent = device
      ? patch<Device>(`/api/v1/devices/${device.uid}/`, body)
      : post<Device>("/api/v1/devices/", { uid: uid.trim(), ...body });
    return sent.then(onSaved);
  };
  return (
    <form
      class="card"
      aria-label={device ? texts("editDevice", { name: device.name || device.uid }) : texts("register")}
      onSubmit={(event) => {
        event.preventDefault();
        void submission.run(save);
      }}
    >
      <h2>{device ? texts("editDevice", { name: device.name || device.uid }) : texts("register")}</h2>
      <div class="columns">
        <Field
          label={texts("imei")}
          hint={texts("imeiHint")}
          required
          disabled={device !== undefined}
          maxLength={15}
          autocomplete="off"
          value={fields.uid}
          onInput={change("uid")}
          problem={submission.problem("uid")}
        />
        <Choice
          label={texts("model")}
          value={model}
          onChange={change("model")}
          options={models.value.map((one) => [one.slug, modelName(one)] as const)}
        />
        <Field
          label={common("name")}
          maxLength={100}
          autocomplete="off"
          value={fields.name}
          onInput={change("name")}
          problem={submission.problem("name")}
        />
        <ZoneField
          value={fields.timezone}
          onInput={change("timezone")}
          hint={texts("zoneHint")}
          placeholder={session.get()?.me.organization?.timezone ?? ""}
          problem={submission.problem("timezone")}
        />
        <Field
          label={texts("tags")}
          hint={texts("tagsHint")}
          autocomplete="off"
          value={fields.tags}
          onInput={change("tags")}
          problem={submission.problem("tags")}
        />
        <Field
          label={texts("phone")}
          type="tel"
          maxLength={32}
          autocomplete="off"
          value={fields.phone}
          onInput={change("phone")}
          problem={submission.problem("phone_number")}
        />
        <Field
          label={texts("terminalId")}
          hint={texts("terminalHint")}
          maxLength={20}
          autocomplete="off"
          value={fields.terminalId}
          onInput={change("terminalId")}
          problem={submission.problem("terminal_id")}
        />
      </div>
      {device && <CapabilityOverrides uid={device.uid} />}
      {submission.failure !== undefined && <Failure error={submission.failure} />}
      <div class="actions">
        <button type="submit" class="primary" disabled={submission.isBusy}>
          {common("save")}
        </button>
        <button type="button" onClick={onCancel}>
          {common("cancel")}
        </button>
        {device && (
          <span class="end">
            <DeleteButton
              disabled={submission.isBusy}
              onDelete={() =>
                void submission.run(() => remove(`/api/v1/devices/${device.uid}/`).then(() => onDeleted(device)))
              }
            />
            <small>{texts("deleteHint")}</small>
          </span>
        )}
      </div>
    </form>
  );
}
