import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Failure, Loading } from "./states.tsx";

/** A page that is loaded when it is first shown, so that signing in does not wait for charts. */
export function lazy<P extends object>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
  let loaded: ComponentType<P> | undefined;
  return function LazyPage(props: P) {
    const [Page, setPage] = useState<ComponentType<P> | undefined>(() => loaded);
    const [failure, setFailure] = useState<unknown>();
    const start = (): void => {
      setFailure(undefined);
      load().then(
        (found) => {
          loaded = found;
          setPage(() => found);
        },
        (error: unknown) => setFailure(error),
      );
    };
    useEffect(() => {
      if (!Page) start();
    }, []);
    if (failure !== undefined) return <Failure error={failure} onRetry={start} />;
    return Page ? <Page {...props} /> : <Loading />;
  };
}
