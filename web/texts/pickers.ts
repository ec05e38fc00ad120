import { defineTexts } from "./define.ts";

export const pickerTexts = defineTexts({
  en: {
    find: "Find",
    none: "There is nothing to choose from yet.",
    more: "{count} more. Search to find them.",
    zone: "Time zone",
  },
  it: {
    find: "Trova",
    none: "Non c’è ancora niente da scegliere.",
    more: "Altri {count}. Li trova con la ricerca.",
    zone: "Fuso orario",
  },
  de: {
    find: "Finden",
    none: "Es gibt noch nichts zur Auswahl.",
    more: "{count} weitere. Suchen Sie, um sie zu finden.",
    zone: "Zeitzone",
  },
  fr: {
    find: "Trouver",
    none: "Il n’y a encore rien à choisir.",
    more: "{count} de plus. Cherchez pour les trouver.",
    zone: "Fuseau horaire",
  },
  es: {
    find: "Encontrar",
    none: "Todavía no hay nada que elegir.",
    more: "{count} más. Búsquelos para encontrarlos.",
    zone: "Zona horaria",
  },
});
