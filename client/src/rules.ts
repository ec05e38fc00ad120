import { listOf, type QueryOf } from "./lists.ts";
import type {
  AlertThresholdRequest,
  EventAcknowledgeRequest,
  GeofenceRequest,
  GeofenceUpdateRequest,
  PatchedAlertThresholdRequest,
  PatchedGeofenceRequest,
} from "./schemas.ts";
import type { CallOptions, Transport } from "./transport.ts";

export const makeEvents = (transport: Transport) => {
  const { call } = transport;
  return {
    list: (query: QueryOf<"events_list"> = {}, options?: CallOptions) =>
      listOf(transport, "events_list", { query }, options),
    get: (id: string, options?: CallOptions) => call("events_retrieve", { path: { id } }, options),
    delete: (id: string, options?: CallOptions) => call("events_destroy", { path: { id } }, options),
    acknowledge: (id: string, body: EventAcknowledgeRequest = {}, options?: CallOptions) =>
      call("events_acknowledge_create", { path: { id }, body }, options),
  };
};

export const makeGeofences = (transport: Transport) => {
  const { call } = transport;
  return {
    list: (query: QueryOf<"geofences_list"> = {}, options?: CallOptions) =>
      listOf(transport, "geofences_list", { query }, options),
    get: (id: string, options?: CallOptions) => call("geofences_retrieve", { path: { id } }, options),
    create: (body: GeofenceRequest, options?: CallOptions) => call("geofences_create", { body }, options),
    replace: (id: string, body: GeofenceUpdateRequest, options?: CallOptions) =>
      call("geofences_update", { path: { id }, body }, options),
    update: (id: string, body: PatchedGeofenceRequest, options?: CallOptions) =>
      call("geofences_partial_update", { path: { id }, body }, options),
    delete: (id: string, options?: CallOptions) => call("geofences_destroy", { path: { id } }, options),
    linkDevices: (id: string, device_uids: string[], options?: CallOptions) =>
      call("geofences_devices_create", { path: { id }, body: { device_uids } }, options),
    unlinkDevice: (id: string, device_uid: string, options?: CallOptions) =>
      call("geofences_devices_destroy", { path: { id, device_uid } }, options),
  };
};

export const makeAlertThresholds = (transport: Transport) => {
  const { call } = transport;
  return {
    list: (query: QueryOf<"alert_thresholds_list"> = {}, options?: CallOptions) =>
      listOf(transport, "alert_thresholds_list", { query }, options),
    get: (id: string, options?: CallOptions) => call("alert_thresholds_retrieve", { path: { id } }, options),
    create: (body: AlertThresholdRequest, options?: CallOptions) => call("alert_thresholds_create", { body }, options),
    update: (id: string, body: PatchedAlertThresholdRequest, options?: CallOptions) =>
      call("alert_thresholds_partial_update", { path: { id }, body }, options),
    delete: (id: string, options?: CallOptions) => call("alert_thresholds_destroy", { path: { id } }, options),
  };
};
