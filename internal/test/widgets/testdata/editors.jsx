// npm: codemirror@6.0.2 prosemirror-example-setup@1.2.3 prosemirror-schema-basic@1.2.5 prosemirror-state@1.4.4
// npm: prosemirror-view@1.42.9 prosemirror-model@1.25.13 quill@2.0.3 react@19.3.1 react-dom@19.3.1 slate@0.146.0 slate-react@0.146.1
// npm: slate-dom@0.146.1 slate-history@0.115.0
import React, { useMemo, useState } from "react";
import { createRoot } from "react-dom/client";
import { EditorView, basicSetup } from "codemirror";
import { EditorState } from "prosemirror-state";
import { EditorView as ProseView } from "prosemirror-view";
import { DOMParser } from "prosemirror-model";
import { schema } from "prosemirror-schema-basic";
import { exampleSetup } from "prosemirror-example-setup";
import "prosemirror-view/style/prosemirror.css";
import "prosemirror-example-setup/style/style.css";
import "prosemirror-menu/style/menu.css";
import Quill from "quill";
import "quill/dist/quill.snow.css";
import { createEditor, Editor, Range } from "slate";
import { Slate, Editable, withReact } from "slate-react";
const mount = (el, root) => createRoot(root).render(el);
const code = doc => { window.view = new EditorView({ doc, extensions: basicSetup, parent: root }); };
const prose = html => {
  const box = document.createElement('div'); box.innerHTML = html;
  window.view = new ProseView(root, { state: EditorState.create({ doc: DOMParser.fromSchema(schema).parse(box), plugins: exampleSetup({ schema }) }) });
};
const quill = () => { root.innerHTML = '<div></div>'; window.q = new Quill(root.firstChild, { theme: 'snow', modules: { toolbar: ['bold', { header: [1, 2, false] }, { list: 'bullet' }, 'link'] } }); };
function SlateBox() {
  const editor = useMemo(() => withReact(createEditor()), []);
  const [range, select] = useState(null); // Slate takes over what is selected some time later
  return <><button disabled={!range || Range.isCollapsed(range)} onMouseDown={e => { e.preventDefault(); Editor.addMark(editor, 'bold', true) }}>Bold</button>
    <Slate editor={editor} initialValue={[{ type: 'p', children: [{ text: 'Hello' }] }]} onChange={v => { done(JSON.stringify(v)); select(editor.selection) }}>
      <Editable aria-label="Body" renderLeaf={p => <span {...p.attributes} style={{ fontWeight: p.leaf.bold ? 'bold' : '' }}>{p.children}</span>} /></Slate></>;
}

//== codemirror-type
//say type "let a = 1" into the editor
//do type textbox = let a = 1
//is view.state.doc.toString() === 'let a = 1'
code('')

//== codemirror-replace
//say replace the text with short
//do type textbox = short
//is view.state.doc.toString() === 'short'
code('one\ntwo\nthree')

//== codemirror-append
//say add ! at the end of the text
//do click textbox
//do press Control+End
//do press !
//is view.state.doc.toString() === 'one\ntwo!'
code('one\ntwo')

//== codemirror-after
//say add "!" at the end
//do slowly textbox = !
//is view.state.doc.toString() === 'one\ntwo!'
code('one\ntwo')

//== codemirror-search
//say click the editor, press ctrl+f, type two into Find, type 2 into Replace and click replace all
//do click textbox
//do press Control+f
//do type textbox "Find" = two
//do type textbox "Replace" = 2
//do click button "replace all"
//is view.state.doc.toString() === 'one 2 2'
code('one two two')

//== codemirror-keys
//say click the editor, press ctrl+a and press Delete
//do click textbox
//do press Control+a
//do press Delete
//is view.state.doc.length === 0
code('gone soon')

//== codemirror-undo
//say type new into the editor, press ctrl+z and add ! at the end
//do type textbox = new
//do press Control+z
//do press Control+End
//do press !
//is view.state.doc.toString() === 'old!'
code('old')

//== prosemirror-type
//say write Dear Ada into the editor
//do type generic [contenteditable] = Dear Ada
//is view.state.doc.textContent === 'Dear Ada'
prose('<p>x</p>')

//== prosemirror-bold
//say select all the text and make it bold
//do click generic [contenteditable]
//do press Control+a
//do click * "Toggle strong"
//is view.dom.querySelector('strong')?.textContent === 'Plain'
prose('<p>Plain</p>')

//== prosemirror-paragraphs
//say click the editor, press ctrl+end, press Enter and type B
//do click generic [contenteditable]
//do press Control+End
//do press Enter
//do press B
//is view.state.doc.childCount === 2
prose('<p>A</p>')

//== prosemirror-heading
//say click the editor, open "Type...", hover over Heading and click Level 2
//do click generic [contenteditable]
//do click * "Type..."
//do hover * "Heading"
//do click * "Level 2"
//is view.dom.querySelector('h2')
prose('<p>Title</p>')

//== quill-type
//say type Hello Quill into the editor
//do type * [contenteditable] = Hello Quill
//is q.getText() === 'Hello Quill\n'
quill()

//== quill-bold
//say type Strong into the editor and make it bold
//do type * [contenteditable] = Strong
//do press Control+a
//do click button "bold"
//is q.root.querySelector('strong')
quill()

//== quill-list
//say type Item into the editor and click "list: bullet"
//do type * [contenteditable] = Item
//do click button "list: bullet"
//is q.root.querySelector('li')
quill()

//== quill-heading
//say type Title into the editor, click Normal and choose Heading 1
//do type * [contenteditable] = Title
//do click button "Normal"
//do click button "Heading 1"
//is q.root.querySelector('h1,h2')
quill()

//== slate-type
//say set Body to Bye
//do type textbox "Body" = Bye
//is result.includes('"Bye"')
return <SlateBox />

//== slate-append
//say add ! to the end of Body
//do click textbox "Body"
//do press Control+End
//do slowly textbox "Body" = !
//is result.includes('Hello!')
return <SlateBox />

//== slate-bold
//say select all the text in Body and make it bold
//do click textbox "Body"
//do press Control+a
//do click button "Bold"
//is result.includes('"bold":true')
return <SlateBox />
