import { Link } from "../parts/link.tsx";
import { PageTitle } from "../parts/page-title.tsx";
import { isOperator } from "../state/session.ts";
import { notFoundTexts as texts } from "../texts/not-found.ts";

/** An address at which there is nothing, with the way back to where one starts. */
export const NotFoundPage = () => (
  <section class="not-found">
    <p class="not-found-code" aria-hidden="true">
      404
    </p>
    <PageTitle>{texts("title")}</PageTitle>
    <p>{texts("reason")}</p>
    <p>
      {isOperator() ? (
        <Link class="button" to="/console/operator">
          {texts("toOperator")}
        </Link>
      ) : (
        <Link class="button" to="/console/">
          {texts("toMap")}
        </Link>
      )}
    </p>
  </section>
);
