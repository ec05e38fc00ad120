import { defineTexts } from "./define.ts";

export const notFoundTexts = defineTexts({
  en: {
    title: "Page not found",
    reason: "There is nothing at this address. It may be mistyped, or what it showed has been deleted.",
    toMap: "Back to the map",
    toOperator: "Back to Operation",
  },
  it: {
    title: "Pagina non trovata",
    reason: "A questo indirizzo non c’è nulla. Forse contiene un errore, o ciò che mostrava è stato eliminato.",
    toMap: "Torna alla mappa",
    toOperator: "Torna a Esercizio",
  },
  de: {
    title: "Seite nicht gefunden",
    reason:
      "Unter dieser Adresse gibt es nichts. Vielleicht ist sie falsch geschrieben, oder was sie zeigte, wurde gelöscht.",
    toMap: "Zurück zur Karte",
    toOperator: "Zurück zu Betrieb",
  },
  fr: {
    title: "Page introuvable",
    reason: "Il n’y a rien à cette adresse. Elle est peut-être mal écrite, ou ce qu’elle montrait a été supprimé.",
    toMap: "Retour à la carte",
    toOperator: "Retour à Exploitation",
  },
  es: {
    title: "Página no encontrada",
    reason: "No hay nada en esta dirección. Puede estar mal escrita, o lo que mostraba se ha eliminado.",
    toMap: "Volver al mapa",
    toOperator: "Volver a Operación",
  },
});
