import { PageTitle } from "../parts/page-title.tsx";
import { common } from "../texts/common.ts";

export const NotFoundPage = () => <PageTitle>{common("notFound")}</PageTitle>;
