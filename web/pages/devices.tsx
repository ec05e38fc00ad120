import { useRef, useState } from "preact/hooks";
import { getAll } from "../api/client.ts";
import type { Device } from "../api/types.ts";
import { nameOf } from "../parts/alarm-card.tsx";
import { BulkBar } from "../parts/bulk-bar.tsx";
import { DeletedDevices } from "../parts/deleted-devices.tsx";
import { listQuery } from "../parts/device-filter.ts";
import { DeviceFilters, useDeviceFilters } from "../parts/device-filters.tsx";
import { DeviceForm } from "../parts/device-form.tsx";
import { DeviceImport } from "../parts/device-import.tsx";
import { DeviceTable } from "../parts/device-table.tsx";
import { PageTitle } from "../parts/page-title.tsx";
import { Empty, Failure, Loading } from "../parts/states.tsx";
import { UnknownDeviceLookUp } from "../parts/unknown-device.tsx";
import { useDebounced } from "../state/debounced.ts";
import { useDeviceRows } from "../state/device-rows.ts";
import { hasRole } from "../state/session.ts";
import { useSubmit } from "../state/submit.ts";
import { common } from "../texts/common.ts";
import { deviceAdminTexts as adminTexts } from "../texts/device-admin.ts";
import { deviceListTexts as texts } from "../texts/devices.ts";
import { showNumber } from "../texts/format.ts";
import "../styles/rules.css";
import "../styles/admin.css";

/** What is open above the list. */
type Panel =
  | { kind: "form"; device: Device | undefined; known?: { uid: string; protocol: string | undefined } }
  | { kind: "import" | "lookUp" | "deleted" };

/** As many devices as a file takes. */
const maxChosen = 10_000;

/** The devices one may see, found by the service; administrators register, import, change and delete them here. */
export function DevicesPage() {
  const filters = useDeviceFilters();
  const query = listQuery({ ...filters, search: useDebounced(filters.search) });
  const { rows, count, total, isBusy, failure, more, reload } = useDeviceRows(`page_size=100&${query}`);
  const [panel, setPanel] = useState<Panel | undefined>();
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [isActing, setActing] = useState(false);
  const [notice, setNotice] = useState("");
  const top = useRef<HTMLDivElement>(null);
  const loading = useSubmit();
  const isAdmin = hasRole("ADMIN");

  const open = (next: Panel): void => {
    setNotice("");
    setPanel(next);
    top.current?.scrollIntoView({ block: "start" });
  };
  const finish = (text: string): void => {
    setNotice(text);
    setPanel(undefined);
    reload();
  };
  const choose = (next: ReadonlySet<string>): void => {
    setChosen(next);
    setActing(next.size > 0);
  };
  const chooseAll = (): void =>
    void loading.run(async () => {
      const found = await getAll<Device>(`/console/api/devices/?page_size=200&${query}`);
      choose(new Set(found.map(({ uid }) => uid)));
    });
  return (
    <div ref={top}>
      <div class="head">
        <PageTitle>{common("devices")}</PageTitle>
        {isAdmin && panel === undefined && (
          <div class="actions">
            <button type="button" class="primary" onClick={() => open({ kind: "form", device: undefined })}>
              {texts("register")}
            </button>
            <button type="button" onClick={() => open({ kind: "import" })}>
              {adminTexts("import")}
            </button>
            <button type="button" onClick={() => open({ kind: "lookUp" })}>
              {adminTexts("lookUp")}
            </button>
            <button type="button" onClick={() => open({ kind: "deleted" })}>
              {adminTexts("deleted")}
            </button>
            <a class="button" href={`/console/api/devices/export/?${query}`} download>
              {adminTexts("export")}
            </a>
          </div>
        )}
      </div>
      <p class="saved" role="status">
        {notice}
      </p>
      {panel && <OpenPanel panel={panel} onOpen={open} onFinish={finish} onClose={() => setPanel(undefined)} />}
      <DeviceFilters {...filters} />
      {!rows && isBusy && <Loading />}
      {failure && <Failure error={failure.error} onRetry={reload} />}
      {count !== undefined && total !== undefined && total > 0 && (
        <p class="hint" role="status">
          {texts("count", { count: showNumber(count, 0), total: showNumber(total, 0) })}
        </p>
      )}
      {rows && count === 0 && <Empty>{total === 0 ? texts("noDevices") : texts("none")}</Empty>}
      {isAdmin && chosen.size > 0 && (
        <p class="selection">
          <strong>{adminTexts("selected", { count: showNumber(chosen.size, 0) })}</strong>
          {count !== undefined && chosen.size < count && count <= maxChosen && (
            <button type="button" class="plain" disabled={loading.isBusy} onClick={chooseAll}>
              {adminTexts("selectAll", { count: showNumber(count, 0) })}
            </button>
          )}
          <button type="button" class="plain" onClick={() => choose(new Set())}>
            {adminTexts("clear")}
          </button>
        </p>
      )}
      {loading.failure !== undefined && <Failure error={loading.failure} />}
      {isAdmin && isActing && (
        <BulkBar
          chosen={chosen}
          onDone={(results) => {
            const done = new Set(results.filter(({ ok }) => ok).map(({ uid }) => uid));
            setChosen(new Set([...chosen].filter((uid) => !done.has(uid))));
            reload();
          }}
        />
      )}
      {rows && rows.length > 0 && (
        <div aria-busy={isBusy}>
          <DeviceTable
            rows={rows}
            chosen={chosen}
            onChoose={choose}
            onEdit={(device) => open({ kind: "form", device })}
          />
        </div>
      )}
      {more && (
        <button type="button" disabled={loading.isBusy} onClick={() => void loading.run(more)}>
          {common("more")}
        </button>
      )}
    </div>
  );
}

interface OpenPanelProps {
  panel: Panel;
  onOpen(panel: Panel): void;
  onFinish(notice: string): void;
  onClose(): void;
}

function OpenPanel({ panel, onOpen, onFinish, onClose }: OpenPanelProps) {
  switch (panel.kind) {
    case "form":
      return (
        <DeviceForm
          key={panel.device?.uid ?? panel.known?.uid ?? "new"}
          device={panel.device}
          {...(panel.known ? { known: panel.known } : {})}
          onSaved={(device) =>
            onFinish(panel.device ? common("saved") : texts("registered", { name: nameOf(device, device.uid) }))
          }
          onDeleted={() => onFinish("")}
          onCancel={onClose}
        />
      );
    case "import":
      return <DeviceImport onDone={onFinish} onClose={onClose} />;
    case "lookUp":
      return (
        <UnknownDeviceLookUp
          onRegister={(uid, protocol) => onOpen({ kind: "form", device: undefined, known: { uid, protocol } })}
          onClose={onClose}
        />
      );
    case "deleted":
      return <DeletedDevices onRevived={(name) => onFinish(adminTexts("tookBack", { name }))} onClose={onClose} />;
  }
}
