import { render } from "preact";
import { App } from "./app.tsx";
import "./styles/base.css";
import "./styles/parts.css";

const root = document.getElementById("app");
if (!root) throw new Error("the page has no place for the console");
render(<App />, root);
