import { useEffect, useState } from "preact/hooks";
import { Refusal } from "./api/client.ts";
import { Layout } from "./parts/layout.tsx";
import { Failure, Loading } from "./parts/states.tsx";
import { findRoute } from "./routes.tsx";
import { startLive, stopLive } from "./state/live.ts";
import { navigate, usePath } from "./state/router.ts";
import { loadSession, session } from "./state/session.ts";
import { useStore } from "./state/store.ts";
import { chooseLocale, locale } from "./texts/locale.ts";

/** Reads who is signed in, then shows the page of the address; without a session that is the one to sign in. */
export function App() {
  const path = usePath();
  const signedIn = useStore(session);
  // Drawn anew in another language.
  const language = useStore(locale);
  const [isKnown, setKnown] = useState(false);
  const [failure, setFailure] = useState<unknown>();

  const load = (): void => {
    setFailure(undefined);
    if (findRoute(location.pathname).isMailed) {
      chooseLocale(document.documentElement.lang);
      setKnown(true);
      return;
    }
    chooseLocale(null);
    loadSession()
      .catch((error: unknown) => {
        if (!(error instanceof Refusal && error.status === 401)) setFailure(error);
      })
      .finally(() => setKnown(true));
  };
  useEffect(load, []);
  useEffect(() => {
    // An operator belongs to no organization, and so to none whose devices could be followed.
    if (!signedIn?.me.organization) return undefined;
    startLive();
    return stopLive;
  }, [signedIn?.me.user.id, signedIn?.me.organization?.slug]);
  const route = findRoute(path);
  const isElsewhere = signedIn?.me.operator === true && !route.isPublic && !route.isForOperators;
  useEffect(() => {
    if (isElsewhere) navigate("/console/operator", { replace: true });
  }, [isElsewhere]);

  if (!isKnown) return <Loading />;
  if (failure !== undefined) return <Failure error={failure} onRetry={load} />;
  const Page = route.page;
  if (route.isPublic) return <Page key={language} {...route.params} />;
  if (!signedIn || isElsewhere) return <Loading />;
  return (
    <Layout key={language}>
      <Page key={path} {...route.params} />
    </Layout>
  );
}
