import { checkVirtualTracker } from "../support/simulated-tracker.ts";

checkVirtualTracker("gt06", "gt06-generic");
