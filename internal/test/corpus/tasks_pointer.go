package corpus

// pointerTasks returns tasks that need a mouse.
func pointerTasks() []Task {
	return []Task{dragTask(), puzzleTask(), canvasTask(), worldMap(), multiSelectTask()}
}

func dragTask() Task {
	s := newTaskSite(map[string]string{"/{$}": `<div draggable=true tabindex=0 role=button aria-label="Write report" style="width:120px;height:40px;background:#fc9">Write report</div>
		<div role=region aria-label=Done tabindex=0 style="margin-top:60px;width:200px;height:120px;background:#cfc">Done</div><script>
		const [card, done] = document.querySelectorAll('div');
		card.ondragstart = (e) => e.dataTransfer.setData('text/plain', card.textContent);
		done.ondragover = (e) => e.preventDefault();
		done.ondrop = (e) => { e.preventDefault(); note('done: ' + e.dataTransfer.getData('text/plain')); done.append(card) }</script>`})
	return Task{
		Name: "drag and drop", Site: s, Prompt: `Drag "Write report" to Done.`,
		Steps: []Step{{Verb: Drag, Name: "Write report", To: "Done"}}, Check: s.recordedExactly("done: Write report"),
	}
}

func puzzleTask() Task {
	s := newTaskSite(map[string]string{"/{$}": `<button id=p aria-label=Piece style="position:absolute;left:20px;top:20px;width:50px;height:50px">P</button>
		<button id=q aria-label=Gap style="position:absolute;left:300px;top:180px;width:60px;height:60px;z-index:-1">G</button><script>
		p.onpointerdown = (e) => { p.setPointerCapture(e.pointerId); p.onpointermove = (m) => { p.style.left = m.clientX - 25 + 'px'; p.style.top = m.clientY - 25 + 'px' } };
		p.onpointerup = () => { p.onpointermove = null; const a = p.getBoundingClientRect(), b = q.getBoundingClientRect();
			note(Math.hypot(a.x + a.width / 2 - b.x - b.width / 2, a.y + a.height / 2 - b.y - b.height / 2) < 3 ? 'fits' : 'misses') }</script>`})
	return Task{
		Name: "puzzle", Site: s, Prompt: "Drag the piece into the gap.",
		Steps: []Step{{Verb: Drag, Name: "Piece", To: "Gap"}}, Check: s.recordedExactly("fits"),
	}
}

func canvasTask() Task {
	s := newTaskSite(map[string]string{"/{$}": `<canvas role=button aria-label=Board tabindex=0 width=300 height=200 style="border:0;background:#ddf"></canvas><script>
		const c = document.querySelector('canvas'), g = c.getContext('2d'); let way = null;
		const cell = (e) => Math.floor(e.offsetX / 100) + '/' + Math.floor(e.offsetY / 100);
		c.onmousedown = (e) => { way = [cell(e)]; g.fillRect(e.offsetX, e.offsetY, 4, 4) };
		c.onmousemove = (e) => { if (way && way.at(-1) !== cell(e)) way.push(cell(e)) };
		c.onmouseup = () => { note(way.join(' ')); way = null }</script>`})
	return Task{
		Name: "canvas", Site: s, Prompt: "Mark the upper right cell, then draw from the lower left over the lower right to the upper right.",
		Steps: []Step{
			{Verb: ClickAt, Name: "Board", Points: [][2]float64{{250, 50}}},
			{Verb: DragAt, Name: "Board", Points: [][2]float64{{50, 150}, {250, 150}, {250, 50}}},
		},
		Check: s.recordedExactly("2/0", "0/1 1/1 2/1 2/0"),
	}
}

func worldMap() Task {
	s := newTaskSite(map[string]string{"/{$}": `<div role=application aria-label=Map tabindex=0 style="width:400px;height:300px;background:#9cf;touch-action:none">z0</div><script>
		const m = document.querySelector('div'); let z = 0, from = null;
		m.addEventListener('wheel', (e) => { e.preventDefault(); z += e.deltaY < 0 ? 1 : -1; m.textContent = 'z' + z }, {passive: false});
		m.onmousedown = (e) => { from = e.clientX }; addEventListener('mouseup', (e) => { if (from !== null) note('zoom ' + z + ' moved ' + Math.round((e.clientX - from) / 10) * 10); from = null })</script>`})
	wheel := Step{Verb: Wheel, Name: "Map", Points: [][2]float64{{0, -100}}}
	return Task{
		Name: "map", Site: s, Prompt: "Zoom in twice with the wheel and move the map by 120 pixels to the right.",
		Steps: []Step{wheel, wheel, {Verb: DragAt, Name: "Map", Points: [][2]float64{{100, 100}, {220, 100}}}}, Check: s.recordedExactly("zoom 2 moved 120"),
	}
}

func multiSelectTask() Task {
	s := newTaskSite(map[string]string{"/{$}": `<div role=listbox aria-multiselectable=true><div role=option>Anna</div><div role=option>Bert</div><div role=option>Cleo</div></div>
		<button onclick="note([...document.querySelectorAll('.on')].map((e) => e.textContent).join(' '))">Invite</button><script>
		const all = [...document.querySelectorAll('[role=option]')];
		for (const o of all) o.onclick = (e) => { if (!e.ctrlKey) all.forEach((x) => x.classList.remove('on')); o.classList.add('on') }</script>`})
	return Task{
		Name: "several", Site: s, Prompt: "Invite Anna and Cleo.",
		Steps: []Step{clickStep("Anna"), {Verb: Click, Name: "Cleo", Held: "Control"}, clickStep("Invite")}, Check: s.recordedExactly("Anna Cleo"),
	}
}
