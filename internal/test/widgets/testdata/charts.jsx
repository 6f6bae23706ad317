// npm: leaflet@1.9.4 d3@7.9.2 chart.js@4.6.1 echarts@6.1.0 video.js@8.24.1
import L from "leaflet";
import "leaflet/dist/leaflet.css";
import * as d3 from "d3";
import Chart from "chart.js/auto";
import * as echarts from "echarts";
import videojs from "video.js";
import "video.js/dist/video-js.css";
const sales = [["Mon", 30], ["Tue", 80], ["Wed", 45]];
const map = () => { root.style.cssText = 'height:400px;width:600px'; return window.map = L.map(root, { zoomAnimation: false }).setView([52.5, 13.4], 10); };
const svg = () => d3.select(root).append('svg').attr('width', 400).attr('height', 200);
const echart = opts => { root.style.cssText = 'height:300px;width:500px'; const c = echarts.init(root, null, { renderer: 'svg' }); c.setOption({ animation: false, ...opts }); c.on('click', e => done(e.name)); c.on('legendselectchanged', e => done(e.name)); };
const bars = { xAxis: { data: sales.map(d => d[0]) }, yAxis: {}, series: [{ name: 'Sales', type: 'bar', data: sales.map(d => d[1]) }] };
const video = () => { root.innerHTML = '<video class="video-js vjs-default-skin" controls width="600" height="300"></video>'; return window.player = videojs(root.firstChild); };

//== leaflet-zoom
//say zoom in
//do click button "Zoom in"
//is map.getZoom() === 11
map()

//== leaflet-marker
//say click Berlin office and then Route
//do click button "Berlin office"
//do click link "Route"
//is location.hash === '#route'
L.marker([52.5, 13.4], { title: 'Berlin office', alt: 'Berlin office' }).addTo(map()).bindPopup('<a href="#route">Route</a>')

//== leaflet-layer
//say hover over Layers and choose Satellite
//do hover * "Layers"
//do click radio "Satellite"
//is result === 'Satellite'
const m = map(); m.on('baselayerchange', e => done(e.name));
L.control.layers({ Street: L.layerGroup().addTo(m), Satellite: L.layerGroup() }).addTo(m);

//== leaflet-keys
//say zoom out
//do click button "Zoom out"
//do press Tab
//is map.getZoom() === 9
map()

//== leaflet-polygon
//say click the area
//do click generic [cursor:pointer]
//is result === 'area'
L.polygon([[52.4, 13.2], [52.6, 13.2], [52.6, 13.6]], { className: 'path' }).addTo(map()).on('click', () => done('area'))

//== d3-bar
//say click the Tue bar
//do click * "Tue"
//is result === 'Tue'
svg().selectAll('rect').data(sales).join('rect').attr('x', (d, i) => i * 50).attr('y', d => 150 - d[1]).attr('width', 40).attr('height', d => d[1]).on('click', (e, d) => done(d[0])).append('title').text(d => d[0])

//== d3-tree
//say click Leaf b
//do click * "Leaf b"
//is result === 'b'
const tree = d3.tree().size([180, 300])(d3.hierarchy({ n: 'Root', children: [{ n: 'a' }, { n: 'b' }] }));
svg().append('g').attr('transform', 'translate(40,10)').selectAll('g').data(tree.descendants()).join('g').attr('transform', d => `translate(${d.y},${d.x})`).on('click', (e, d) => done(d.data.n))
  .call(g => g.append('circle').attr('r', 6)).append('text').text(d => 'Leaf ' + d.data.n)

//== d3-axis-button
//say click Reset
//do click button "Reset"
//is result === 'reset'
svg().append('g').attr('role', 'button').attr('tabindex', 0).on('click', () => done('reset')).append('text').attr('y', 30).text('Reset')

//== d3-drag
//say drag the ball to the goal
//do drag * "Ball" -> * "Goal"
//is result > 200
const s = svg();
s.append('circle').attr('cx', 300).attr('cy', 100).attr('r', 30).attr('tabindex', 0).attr('aria-label', 'Goal');
s.append('circle').attr('cx', 40).attr('cy', 100).attr('r', 15).attr('tabindex', 0).attr('aria-label', 'Ball').call(d3.drag().on('drag', function (e) { d3.select(this).attr('cx', e.x).attr('cy', e.y) }).on('end', e => done(e.x)))

//== d3-zoom
//say double-click the chart
//do dblclick img "Chart"
//is result === 2
svg().attr('role', 'img').attr('aria-label', 'Chart').attr('tabindex', 0).call(d3.zoom().on('zoom', e => done(e.transform.k))).append('circle').attr('r', 50)

//== chartjs-canvas
//say click the Sales chart
//do click img "Sales"
//is result === 'Tue'
root.style.width = '400px'; root.innerHTML = '<canvas role="img" aria-label="Sales" tabindex="0"></canvas>';
new Chart(root.firstChild, { type: 'bar', data: { labels: sales.map(d => d[0]), datasets: [{ label: 'Sales', data: [80, 80, 80] }] }, options: { animation: false, onClick: (e, hit, c) => hit.length && done(c.data.labels[hit[0].index]) } })

//== chartjs-html-legend
//say untick Costs
//do click checkbox "Costs"
//is result === false
root.innerHTML = '<div style="width:400px"><canvas></canvas></div><label><input type="checkbox" checked>Costs</label>';
const c = new Chart(root.querySelector('canvas'), { type: 'line', data: { labels: ['a', 'b'], datasets: [{ label: 'Costs', data: [1, 2] }] } });
root.querySelector('input').onchange = e => { c.setDatasetVisibility(0, e.target.checked); c.update(); done(c.isDatasetVisible(0)) };

//== echarts-legend
//say click Costs
//do click * "Costs"
//is result === 'Costs'
echart({ ...bars, legend: {}, series: [...bars.series, { name: 'Costs', type: 'line', data: [1, 2, 3] }] })

//== echarts-pie
//say click Wed
//do click * "Wed"
//is result === 'Wed'
echart({ series: [{ type: 'pie', data: sales.map(([name, value]) => ({ name, value })) }] })

//== echarts-axis
//say click Tue
//do click * "Tue"
//is result === 'axis Tue'
echart({ ...bars, xAxis: { ...bars.xAxis, triggerEvent: true } }); echarts.getInstanceByDom(root).on('click', e => done('axis ' + e.value));

//== videojs-play
//say play the video
//do click button "Play"
//is result === 'play'
const p = video(); p.hasStarted(true); p.play = () => done('play');

//== videojs-mute
//say mute the video
//do click button "Mute"
//is player.muted()
video().hasStarted(true)

//== videojs-rate
//say hover over Playback Rate and choose 2x
//do hover button "Playback Rate"
//do click menuitemradio "2x"
//is player.playbackRate() === 2
const p = video(); p.playbackRates([1, 2]); p.hasStarted(true);

//== videojs-volume
//say click Mute, press Tab and press the down arrow 5 times
//do click button "Mute"
//do press Tab
//do press ArrowDown 5
//is player.volume() < 1
video().hasStarted(true)
