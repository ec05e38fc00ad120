/** Where a device was when something happened, as events carry it. */
export interface LastKnownLocation {
  lat: number;
  lng: number;
  accuracy_m: number | null;
  source: string;
  ts: string;
}
