import { describeVirtualDevice } from "../support/virtual-device-behaviour.ts";

describeVirtualDevice("osmand", ["osmand-generic"]);
