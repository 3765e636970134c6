// The SQL editor of the page: CodeMirror 6 with completion of our SQL alone. Built by `make page`.
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { sql, StandardSQL } from "@codemirror/lang-sql";
import { bracketMatching, HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { EditorState } from "@codemirror/state";
import { EditorView, highlightSpecialChars, keymap, placeholder } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const colours = HighlightStyle.define([
  { tag: tags.keyword, class: "cm-word" },
  { tag: [tags.string, tags.number, tags.bool, tags.null], class: "cm-value" },
  { tag: tags.comment, class: "cm-comment" },
]);

function words(listed) {
  return (context) => {
    const before = context.matchBefore(/[\w"]+/);
    if (!before && !context.explicit) return null;
    return { from: before ? before.from : context.pos, options: listed, validFor: /^[\w"]*$/ };
  };
}

window.tacitEditor = (textarea, listed, nonce, changed) => {
  const view = new EditorView({
    state: EditorState.create({
      doc: textarea.value,
      extensions: [
        EditorView.cspNonce.of(nonce),
        highlightSpecialChars(),
        history(),
        bracketMatching(),
        closeBrackets(),
        sql({ dialect: StandardSQL }),
        syntaxHighlighting(colours),
        autocompletion({ override: [words(listed)] }),
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ "aria-label": "Question in SQL", spellcheck: "false" }),
        EditorView.domEventHandlers({
          // A browser would keep the style of what is typed over, as an inline style that the page's policy refuses.
          beforeinput: (event, view) => {
            if (event.inputType !== "insertText" || event.data === null || view.state.selection.main.empty) return false;
            event.preventDefault();
            view.dispatch(view.state.replaceSelection(event.data), { userEvent: "input.type", scrollIntoView: true });
            return true;
          },
        }),
        keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...historyKeymap, ...completionKeymap]),
        placeholder("SELECT …"),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) {
            textarea.value = update.state.doc.toString();
            changed();
          }
        }),
      ],
    }),
  });
  textarea.before(view.dom);
  textarea.hidden = true;
  return {
    set: (text) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } }),
    focus: () => view.focus(),
  };
};
