import { listOf, type QueryOf } from "./lists.ts";
import type { DeviceRequest, DeviceUpdateRequest, PatchedDeviceRequest } from "./schemas.ts";
import type { CallOptions, Transport } from "./transport.ts";
import { toDownload } from "./uploads.ts";

export const makeDevices = (transport: Transport) => {
  const { call } = transport;
  return {
    list: (query: QueryOf<"devices_list"> = {}, options?: CallOptions) =>
      listOf(transport, "devices_list", { query }, options),
    get: (uid: string, options?: CallOptions) => call("devices_retrieve", { path: { uid } }, options),
    create: (body: DeviceRequest, options?: CallOptions) => call("devices_create", { body }, options),
    replace: (uid: string, body: DeviceUpdateRequest, options?: CallOptions) =>
      call("devices_update", { path: { uid }, body }, options),
    update: (uid: string, body: PatchedDeviceRequest, options?: CallOptions) =>
      call("devices_partial_update", { path: { uid }, body }, options),
    delete: (uid: string, options?: CallOptions) => call("devices_destroy", { path: { uid } }, options),
    capabilities: (uid: string, options?: CallOptions) =>
      call("devices_capabilities_retrieve", { path: { uid } }, options),
    config: (uid: string, options?: CallOptions) => call("devices_config_retrieve", { path: { uid } }, options),
  };
};

export const makeLocations = (transport: Transport) => {
  const { call } = transport;
  return {
    list: (device_uid: string, query: QueryOf<"devices_locations_list"> = {}, options?: CallOptions) =>
      listOf(transport, "devices_locations_list", { path: { device_uid }, query }, options),
    latest: (device_uid: string, options?: CallOptions) =>
      call("devices_locations_latest_retrieve", { path: { device_uid } }, options),
    segments: (device_uid: string, query: QueryOf<"devices_locations_segments_retrieve"> = {}, options?: CallOptions) =>
      call("devices_locations_segments_retrieve", { path: { device_uid }, query }, options),
  };
};

export const makeTelemetry = (transport: Transport) => {
  const { call } = transport;
  return {
    list: (device_uid: string, query: QueryOf<"devices_telemetry_list"> = {}, options?: CallOptions) =>
      listOf(transport, "devices_telemetry_list", { path: { device_uid }, query }, options),
    latest: (device_uid: string, options?: CallOptions) =>
      call("devices_telemetry_latest_retrieve", { path: { device_uid } }, options),
  };
};

export const makeEcg = (transport: Transport) => {
  const { call, open } = transport;
  return {
    list: (device_uid: string, query: QueryOf<"devices_ecg_list"> = {}, options?: CallOptions) =>
      listOf(transport, "devices_ecg_list", { path: { device_uid }, query }, options),
    get: (device_uid: string, id: string, options?: CallOptions) =>
      call("devices_ecg_retrieve", { path: { device_uid, id } }, options),
    waveform: (device_uid: string, id: string, options?: CallOptions) =>
      call("devices_ecg_waveform_retrieve", { path: { device_uid, id } }, options),
    /** The waveform in another form, as a stream. */
    download: async (device_uid: string, id: string, format: "json" | "csv" | "fhir", options?: CallOptions) =>
      toDownload(await open("devices_ecg_waveform_retrieve", { path: { device_uid, id }, query: { format } }, options)),
  };
};
