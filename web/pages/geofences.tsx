import { useMemo, useState } from "preact/hooks";
import { get, getAll } from "../api/client.ts";
import type { Geofence, GeofenceDetail } from "../api/types.ts";
import type { Circle } from "../parts/circle-drawing.ts";
import { byName } from "../parts/device-filter.ts";
import { circleOf, draftOf, type FenceDraft, newDraft, withCircle } from "../parts/fence-draft.ts";
import { FenceForm } from "../parts/fence-form.tsx";
import { describeSchedule } from "../parts/fence-schedule.ts";
import { lazy } from "../parts/lazy.tsx";
import { PageTitle } from "../parts/page-title.tsx";
import { Empty, Failure, Loading } from "../parts/states.tsx";
import { useDark } from "../state/dark.ts";
import { forgetFences } from "../state/fences.ts";
import { useFleet } from "../state/fleet.ts";
import { useLoaded } from "../state/loaded.ts";
import { hasRole } from "../state/session.ts";
import { useSettled } from "../state/settled.ts";
import { useSubmit } from "../state/submit.ts";
import { common } from "../texts/common.ts";
import { showNumber } from "../texts/format.ts";
import { fenceTexts as texts } from "../texts/geofences.ts";
import { locale } from "../texts/locale.ts";
import "../styles/rules.css";

const CircleMap = lazy(async () => (await import("../parts/circle-map.tsx")).CircleMap);

const smallFleet = 1000;
const drawEveryMs = 10_000;

interface Editing {
  draft: FenceDraft;
  linked: readonly string[];
}

const circleOfFence = ({ center, radius }: GeofenceDetail): Circle => ({ ...center, radiusM: radius });

/** All fences one may see, on the map and as a list; administrators draw and change them here. */
export function GeofencesPage() {
  const isDark = useDark();
  const fences = useLoaded("fences", () => getAll<Geofence>("/api/v1/geofences/?page_size=200&ordering=name"));
  const known = useFleet();
  const [editing, setEditing] = useState<Editing | undefined>();
  const [shown, setShown] = useState<GeofenceDetail | undefined>();
  const opening = useSubmit();
  const [notice, setNotice] = useState("");
  // Twenty thousand names are not sorted every second.
  const settled = useSettled(known, known.size > smallFleet ? drawEveryMs : 0);
  const fleet = useMemo(() => [...settled.values()].toSorted(byName), [settled]);
  const rows = fences.kind === "ready" ? fences.value : [];
  const others = useMemo(
    () => rows.filter(({ id }) => id !== (editing?.draft.id ?? shown?.id)),
    [rows, editing?.draft.id, shown?.id],
  );
  const setDraft = (draft: FenceDraft): void => setEditing((before) => before && { ...before, draft });

  const open = (id: string, use: (fence: GeofenceDetail) => void): void =>
    void opening.run(async () => {
      setNotice("");
      use(await get<GeofenceDetail>(`/api/v1/geofences/${id}/`));
    });
  const close = (): void => {
    setEditing(undefined);
    setShown(undefined);
  };
  return (
    <div class="map-page">
      <PageTitle>{common("geofences")}</PageTitle>
      <section class="map" aria-label={common("map")}>
        <CircleMap
          key={String(isDark)}
          fences={others}
          devices={fleet}
          circle={editing ? circleOf(editing.draft) : shown && circleOfFence(shown)}
          focus={editing ? (editing.draft.id ?? "new") : (shown?.id ?? "")}
          onDraw={
            editing &&
            ((circle) => setEditing((before) => before && { ...before, draft: withCircle(before.draft, circle) }))
          }
        />
      </section>
      <div class="beside">
        <p class="saved" role="status">
          {notice}
        </p>
        {editing ? (
          <FenceForm
            draft={editing.draft}
            linked={editing.linked}
            devices={fleet}
            onChange={setDraft}
            onCreated={(id) => setDraft({ ...editing.draft, id })}
            onDone={() => {
              setNotice(common("saved"));
              close();
              forgetFences();
              if (fences.kind !== "loading") fences.reload();
            }}
            onCancel={close}
          />
        ) : (
          <>
            {hasRole("ADMIN") && (
              <p>
                <button type="button" class="primary" onClick={() => setEditing({ draft: newDraft(), linked: [] })}>
                  {texts("new")}
                </button>
              </p>
            )}
            {opening.failure !== undefined && <Failure error={opening.failure} />}
            {fences.kind === "loading" && <Loading />}
            {fences.kind === "failed" && <Failure error={fences.error} onRetry={fences.reload} />}
            {fences.kind === "ready" && rows.length === 0 && <Empty>{texts("none")}</Empty>}
            <ul class="rule-list">
              {rows.map((fence) => (
                <FenceItem
                  key={fence.id}
                  fence={fence}
                  shown={shown?.id === fence.id ? shown : undefined}
                  onShow={() => open(fence.id, setShown)}
                  onEdit={() =>
                    open(fence.id, (detail) => {
                      setEditing({ draft: draftOf(detail), linked: detail.devices.map(({ uid }) => uid) });
                    })
                  }
                />
              ))}
            </ul>
          </>
        )}
      </div>
    </div>
  );
}

interface FenceItemProps {
  fence: Geofence;
  /** With its schedule and devices, once it was opened. */
  shown: GeofenceDetail | undefined;
  onShow(): void;
  onEdit(): void;
}

const scopeWords = { device: "scopeDevice", user: "scopeUser", org: "scopeOrg", group: "scopeDevice" } as const;

function FenceItem({ fence, shown, onShow, onEdit }: FenceItemProps) {
  const reports = [
    fence.trigger_on_enter && texts("enter"),
    fence.trigger_on_exit && texts("exit"),
    fence.trigger_on_dwell && texts("dwell"),
  ].filter((word) => word !== false);
  return (
    <li class={shown ? "chosen" : ""}>
      <h2>
        <button type="button" class="plain" title={texts("showFence", { name: fence.name })} onClick={onShow}>
          {fence.name}
        </button>
      </h2>
      <p>
        {texts("metres", { radius: showNumber(fence.radius, 0) })} ·{" "}
        {texts("deviceCount", { count: showNumber(fence.device_count, 0) })} ·{" "}
        {reports.length === 0 ? texts("noReports") : reports.join(", ")}
      </p>
      <p>
        <small>
          {texts(scopeWords[fence.scope])}
          {!fence.is_active && ` · ${texts("inactive")}`}
        </small>
      </p>
      {shown && (
        <p>
          {shown.schedule
            ? `${describeSchedule(shown.schedule, locale.get())} (${shown.schedule.timezone})`
            : texts("always")}
          {shown.devices.length > 0 && `: ${shown.devices.map(({ name, uid }) => name || uid).join(", ")}`}
        </p>
      )}
      {hasRole("ADMIN") && (
        <button type="button" class="plain" aria-label={texts("editFence", { name: fence.name })} onClick={onEdit}>
          {common("edit")}
        </button>
      )}
    </li>
  );
}
