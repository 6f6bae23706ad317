// npm: react@19.3.1 react-dom@19.3.1 sortablejs@1.15.7 @dnd-kit/core@6.3.1 @dnd-kit/sortable@10.0.0 dropzone@6.0.0-beta.2 vis-timeline@8.5.4 interactjs@1.10.28 dragula@3.7.3
// npm: @fullcalendar/core@6.1.22 @fullcalendar/daygrid@6.1.22 @fullcalendar/interaction@6.1.22
import React, { useState } from "react";
import { createRoot } from "react-dom/client";
import Sortable from "sortablejs";
import { DndContext, useDraggable, useDroppable, KeyboardSensor, PointerSensor, useSensor, useSensors } from "@dnd-kit/core";
import { SortableContext, useSortable, arrayMove, sortableKeyboardCoordinates } from "@dnd-kit/sortable";
import Dropzone from "dropzone";
import { Calendar } from "@fullcalendar/core";
import dayGrid from "@fullcalendar/daygrid";
import interaction from "@fullcalendar/interaction";
import { DataSet, Timeline } from "vis-timeline/standalone";
import "vis-timeline/styles/vis-timeline-graph2d.css";
import interact from "interactjs";
import dragula from "dragula";
import "dragula/dist/dragula.css";
const mount = (el, root) => createRoot(root).render(el);
const order = box => [...box.children].map(e => e.dataset.id).join('');
const list = (ids, label) => `<ul aria-label="${label}" style="min-height:40px">${[...ids].map(i => `<li data-id="${i}" style="height:40px;width:200px">Task ${i} <i class="grip" style="cursor:grab" title="Grip ${i}">::</i></li>`).join('')}</ul>`;
const sortable = opts => { root.innerHTML = list('ABC', 'Tasks'); Sortable.create(root.firstChild, { onEnd: () => done(order(root.firstChild)), ...opts }); };
const Drag = ({ id }) => { const d = useDraggable({ id }); return <button ref={d.setNodeRef} {...d.listeners} {...d.attributes} style={{ transform: d.transform && `translate(${d.transform.x}px,${d.transform.y}px)` }}>Card {id}</button> };
const Drop = ({ id, children }) => { const d = useDroppable({ id }); return <div ref={d.setNodeRef} role="group" aria-label={'Lane ' + id} style={{ height: 120, width: 200, margin: 20, background: '#eee' }}>Lane {id}{children}</div> };
const Item = ({ id }) => { const s = useSortable({ id }); return <li ref={s.setNodeRef} {...s.attributes} {...s.listeners} style={{ height: 40, width: 200, transform: s.transform && `translate(${s.transform.x}px,${s.transform.y}px)`, transition: s.transition }}>Step {id}</li> };
function Steps() {
  const [ids, set] = useState(['A', 'B', 'C']);
  const sensors = useSensors(useSensor(PointerSensor), useSensor(KeyboardSensor, { coordinateGetter: sortableKeyboardCoordinates }));
  const end = ({ active, over }) => { if (over && active.id !== over.id) { const n = arrayMove(ids, ids.indexOf(active.id), ids.indexOf(over.id)); set(n); done(n.join('')) } };
  return <DndContext sensors={sensors} onDragEnd={end}><SortableContext items={ids}><ul>{ids.map(i => <Item key={i} id={i} />)}</ul></SortableContext></DndContext>;
}
const zone = opts => { root.innerHTML = '<form class="dropzone" action="/upload" style="min-height:90px"></form>'; new Dropzone(root.firstChild, { autoProcessQueue: false, ...opts }).on('addedfile', f => done(f.name)); };
const calendar = opts => new Calendar(root, { plugins: [dayGrid, interaction], initialDate: '2026-03-01', ...opts }).render();
const timeline = opts => new Timeline(root, new DataSet([{ id: 1, content: 'Alpha', start: '2026-01-02', group: 1 }, { id: 2, content: 'Beta', start: '2026-01-05', end: '2026-01-08', group: 2 }]),
  new DataSet([{ id: 1, content: 'Ada' }, { id: 2, content: 'Bob' }]), { start: '2026-01-01', end: '2026-01-10', ...opts });
const lanes = () => { root.innerHTML = '<div><div>One</div><div>Two</div><div>Four</div></div><div><div>Three</div></div>'; return dragula([...root.children]) };
const meeting = [{ title: 'Meeting', start: '2026-03-10' }];

//== sortablejs
//say drag Task A to Task C
//do drag listitem in listitem "Task A" -> listitem in listitem "Task C"
//is result && result !== 'ABC'
sortable({})

//== sortablejs-pointer
//say drag Task A to Task C
//do drag listitem in listitem "Task A" -> listitem in listitem "Task C"
//is result && result !== 'ABC'
sortable({ forceFallback: true })

//== sortablejs-handle
//say drag Grip C to Task A
//do drag * "Grip C" -> listitem in listitem "Task A"
//is result && result !== 'ABC'
sortable({ handle: '.grip' })

//== sortablejs-lists
//say move Task A to the Doing list
//do drag listitem in listitem "Task A" -> listitem in listitem "Task D"
//is result === 'doing'
root.innerHTML = list('AB', 'Todo') + list('D', 'Doing');
for (const ul of root.children) Sortable.create(ul, { group: 'g', onAdd: e => done(e.to.getAttribute('aria-label').toLowerCase()) });

//== dnd-kit
//say drag Card 1 to Lane B
//do drag button "Card 1" -> group "Lane B"
//is result === '1:B'
return <DndContext onDragEnd={e => done(e.active.id + ':' + e.over?.id)}><Drag id="1" /><Drop id="A" /><Drop id="B" /></DndContext>

//== dnd-kit-onto-a-card
//say drag Card 1 onto Card 2
//do drag button "Card 1" -> button "Card 2"
//is result === '1:B'
return <DndContext onDragEnd={e => done(e.active.id + ':' + e.over?.id)}><Drag id="1" /><Drop id="A" /><Drop id="B"><Drag id="2" /></Drop></DndContext>

//== dnd-kit-sortable
//say drag Step A to Step C
//do drag button "Step A" -> button "Step C"
//is result === 'BCA'
return <Steps />

//== dnd-kit-keys
//say hover over Step A, press Tab, press Space, press the down arrow, wait for "area B" and press Space
//do hover button "Step A"
//do press Tab
//do press Space
//do press ArrowDown
//do see was moved over droppable area B
//do press Space
//is result === 'BAC'
return <Steps />

//== dropzone
//say upload photo.txt
//do upload button "Drop files here" = photo.txt
//is result === 'photo.txt'
zone({})

//== dropzone-remove
//say upload photo.txt and remove the file
//do upload button "Drop files here" = photo.txt
//do click link "Remove file"
//is result === 'removed'
zone({ addRemoveLinks: true, init() { this.on('removedfile', () => done('removed')) } })

//== fullcalendar-event
//say click Meeting
//do click * "Meeting"
//is result === 'Meeting'
calendar({ events: meeting, eventClick: e => done(e.event.title) })

//== fullcalendar-day
//say pick 18 March
//do click gridcell "March 18, 2026"
//is result === '2026-03-18'
calendar({ dateClick: e => done(e.dateStr) })

//== fullcalendar-next
//say go to the next month and click 9
//do click button "Next month"
//do click link "9"
//is result === '2026-04-09'
calendar({ navLinks: true, navLinkDayClick: d => done(d.toLocaleDateString('sv')) })

//== fullcalendar-drag
//say move Meeting to 19 March
//do drag * "Meeting" -> gridcell "March 19, 2026"
//is result === '2026-03-19'
calendar({ events: meeting, editable: true, eventDrop: e => done(e.event.startStr) })

//== vis-timeline-item
//say click Beta
//do click * "Beta"
//is result === '2'
timeline({}).on('select', e => done(e.items.join()))

//== vis-timeline-group
//say click Bob
//do click * "Bob"
//is result === 'group-label 2'
timeline({}).on('click', e => done(e.what + ' ' + e.group))

//== vis-timeline-move
//say drag Beta to Alpha
//do drag * "Beta" -> * "Alpha"
//is result < '2026-01-05'
timeline({ editable: true, itemsAlwaysDraggable: true, onMove: (item, ok) => { ok(item); done(item.start.toISOString()) } })

//== dragula
//say drag One to Four
//do drag * "One" -> * "Four"
//is /Two.*One/.test(result)
lanes().on('drop', (el, to) => done(to.textContent))

//== dragula-lanes
//say drag One to Three
//do drag * "One" -> * "Three"
//is /One/.test(result) && /Three/.test(result)
lanes().on('drop', (el, to) => done(to.textContent))

//== interact-drop
//say drag the card to the lane
//do drag * "Card" -> * "Lane"
//is result === 'Card'
root.innerHTML = '<p class="drag-item" style="width:80px">Card</p><div class="dropzone" style="height:90px">Lane</div>';
interact('.drag-item').draggable({ listeners: { move() {} } });
interact('.dropzone').dropzone({ accept: '.drag-item', overlap: 'pointer', ondrop: e => done(e.relatedTarget.textContent) });
