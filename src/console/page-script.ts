/**
 * The part that the pages of a mailed link share: the token goes from the address of the page into the body of one call, and
 * out of the history once it is used up. `form`, `password`, `token`, `complain` and `end` are for the script that follows.
 */
export const linkPageScript = (formId: string): string => `"use strict";
const form = document.getElementById("${formId}");
const password = document.getElementById("password");
const problem = document.getElementById("problem");
const button = form.querySelector("button");
const token = new URLSearchParams(location.search).get("token");

document.getElementById("show").addEventListener("change", (event) => {
  password.type = event.target.checked ? "text" : "password";
});

function complain(text) {
  problem.textContent = text;
  password.setAttribute("aria-invalid", "true");
  password.focus();
}

function end(id) {
  const section = document.getElementById(id);
  const heading = section.querySelector("h1");
  form.remove();
  section.hidden = false;
  document.title = heading.textContent + " · Vigil";
  heading.focus();
  history.replaceState(null, "", location.pathname);
}
`;
