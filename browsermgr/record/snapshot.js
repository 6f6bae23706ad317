(max, ids, ...owners) => {
	// The document and those of its frames in this process, as nested arrays: [name, attributes, ...children] or text.
	const secret = /pass(word|wd|phrase|code)?|pwd|token|secret|otp|one-time|\bpin\b|cvc|cvv|cc-|api.?key/i;
	const started = performance.now();
	const frames = [];
	let size = 0;
	const spend = (n) => {
		if ((size += n) > max) throw new Error(`the document takes more than ${max} characters`);
	};
	const sheetText = (sheet) => {
		try {
			return [...sheet.cssRules].map((rule) => rule.cssText).join('\n');
		} catch {
			return '';
		}
	};
	const hides = (e) => e.type === 'password' || e.type === 'hidden' || secret.test(`${e.name} ${e.id} ${e.autocomplete}`);
	const state = (e, attrs) => {
		switch (e.localName) {
		case 'input':
		case 'textarea':
			if (e.type === 'checkbox' || e.type === 'radio') attrs.__playwright_checked_ = String(e.checked);
			else if (hides(e)) delete attrs.value;
			else attrs.__playwright_value_ = e.value;
			break;
		case 'option':
			attrs.__playwright_selected_ = String(e.selected);
			break;
		case 'img':
			if (e.currentSrc) attrs.__playwright_current_src__ = e.currentSrc;
			break;
		case 'dialog':
			if (e.open) attrs.__playwright_dialog_open_ = e.matches(':modal') ? 'modal' : 'true';
			break;
		}
		if (e.popover && e.matches(':popover-open')) attrs.__playwright_popover_open_ = 'true';
		if (e.scrollTop) attrs.__playwright_scroll_top_ = String(e.scrollTop);
		if (e.scrollLeft) attrs.__playwright_scroll_left_ = String(e.scrollLeft);
	};
	const embed = (e, path) => {
		const other = owners.indexOf(e);
		if (other >= 0) return `/snapshot/${ids[other + 1]}`;
		try {
			if (e.contentDocument?.documentElement) return `/snapshot/${capture(e.contentDocument, path)}`;
		} catch (err) {
			if (size > max) throw err;
		}
		return '';
	};
	const sheets = (root) => [...(root.adoptedStyleSheets || [])].map((s) => ['template', {__playwright_style_sheet_: sheetText(s)}]);
	const element = (e, here) => {
		const attrs = {};
		for (const {name, value} of e.attributes) {
			attrs[name] = name.startsWith('on') ? '' : value;
			spend(name.length + attrs[name].length + 6);
		}
		state(e, attrs);
		const node = [e.nodeName, attrs];
		spend(e.nodeName.length + 10);
		if (e.localName === 'iframe' || e.localName === 'frame') attrs.src = embed(e, `${here.id}.${++here.frames}`);
		if (e.localName === 'head') node.push(['BASE', {href: e.ownerDocument.baseURI}]);
		if (e.shadowRoot) {
			node.push(['template', {__playwright_shadow_root_: 'open'}, ...sheets(e.shadowRoot), ...children(e.shadowRoot, here)]);
		}
		if (e.localName === 'style' && !e.textContent && e.sheet) {
			const text = sheetText(e.sheet);
			spend(text.length);
			node.push(text);
		} else if (e.localName === 'textarea') {
			// its value is given above
		} else {
			node.push(...children(e, here));
		}
		return node;
	};
	const children = (parent, here) => {
		const list = [];
		for (let n = parent.firstChild; n; n = n.nextSibling) {
			if (n.nodeType === Node.TEXT_NODE) {
				spend(n.data.length + 3);
				list.push(n.data);
			} else if (n.nodeType === Node.ELEMENT_NODE && n.localName !== 'script' && n.localName !== 'noscript') {
				list.push(element(n, here));
			}
		}
		return list;
	};
	const count = (node) => typeof node === 'string' ? 1 : node.slice(2).reduce((sum, child) => sum + count(child), 1);
	const capture = (doc, id) => {
		const html = element(doc.documentElement, {id, frames: 0});
		html.push(...sheets(doc));
		frames.push({
			id, html: JSON.stringify(html), last: count(html) - 1, url: doc.URL, doctype: doc.doctype ? doc.doctype.name : '',
			width: doc.defaultView ? doc.defaultView.innerWidth : 0, height: doc.defaultView ? doc.defaultView.innerHeight : 0,
		});
		return id;
	};
	try {
		if (!document.documentElement) return {frames, skipped: 'the document is empty'};
		capture(document, ids[0]);
		return {frames, took: performance.now() - started};
	} catch (err) {
		return {frames: [], skipped: err.message};
	}
}
