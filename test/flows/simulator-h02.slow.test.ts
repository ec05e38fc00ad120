import { checkVirtualTracker } from "../support/simulated-tracker.ts";

checkVirtualTracker("h02", "h02-generic");
