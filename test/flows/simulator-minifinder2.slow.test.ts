import { describeVirtualDevice } from "../support/virtual-device-behaviour.ts";

describeVirtualDevice("minifinder2", ["minifinder2-generic", "minifinder2-w101"]);
