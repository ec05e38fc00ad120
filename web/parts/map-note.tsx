import { hasRole } from "../state/session.ts";
import { mapTexts as texts } from "../texts/map.ts";
import { configuredStyle } from "./map-style.ts";

/** Why there are no streets, for those who can have them switched on; a family could only wonder. */
export const MapNote = () =>
  configuredStyle() === "" && hasRole("ADMIN") ? <p class="map-note">{texts("outline")}</p> : null;
