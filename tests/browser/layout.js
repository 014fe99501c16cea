// SPDX-License-Identifier: BSD-3-Clause
// What is wrong with the layout of the page in this window, as a list of texts: text that is cut off or outside of the window,
// and labels that cover each other.
(() => {
	const problems = [], clips = new Map();
	const name = e => e.tagName.toLowerCase() + (e.id ? '#' + e.id : '') + (e.className.baseVal === undefined && e.className ? '.' + e.className : '');
	const say = (what, element, text) => problems.push(`${what}: ${name(element)}: ${text.trim().slice(0, 60)}`);

	// The ancestors that hide or scroll what is outside of them; a figure has to hold its labels.
	const clipsOf = element => {
		if (!element || element === document.documentElement)
			return [];
		if (!clips.has(element)) {
			const style = getComputedStyle(element), own = style.overflowX !== 'visible' || element.tagName === 'FIGURE';
			clips.set(element, [...(own ? [element] : []), ...clipsOf(element.parentElement)]);
		}
		return clips.get(element);
	};

	const width = document.documentElement.clientWidth;
	if (document.documentElement.scrollWidth > width)
		problems.push(`the page is ${document.documentElement.scrollWidth} pixels wide in a window of ${width}`);
	const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	while (texts.nextNode()) {
		const node = texts.currentNode, parent = node.parentElement;
		if (!node.data.trim() || parent.closest('script,style,svg'))
			continue;
		const range = document.createRange();
		range.selectNodeContents(node);
		for (const box of range.getClientRects()) {
			if (box.width === 0)
				continue;
			if (box.left < -0.5 || box.right > width + 0.5)
				say('outside of the window', parent, node.data);
			for (const clip of clipsOf(parent)) {
				const bounds = clip.getBoundingClientRect();
				if (box.left < bounds.left - 1 || box.right > bounds.right + 1 || box.top < bounds.top - 1 || box.bottom > bounds.bottom + 1)
					say(`cut off by ${name(clip)}`, parent, node.data);
			}
		}
	}
	for (const selector of ['.x', '.plot'])
		for (const group of document.querySelectorAll(selector)) {
			const labels = [...group.querySelectorAll('span')].map(e => [e, e.getBoundingClientRect()]);
			for (const [a, one] of labels)
				for (const [b, two] of labels)
					if (a !== b && one.left < two.right && two.left < one.right && one.top < two.bottom && two.top < one.bottom)
						say(`covers "${b.textContent}"`, a, a.textContent);
		}
	return problems;
})()
