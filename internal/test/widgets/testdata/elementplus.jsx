// npm: vue@3.5.45 element-plus@2.14.8
import { createApp, ref } from "vue/dist/vue.esm-bundler.js";
import ElementPlus from "element-plus";
import "element-plus/dist/index.css";
const places = [{ value: "eu", label: "Europe", children: [{ value: "it", label: "Italy" }, { value: "pt", label: "Portugal" }] }, { value: "as", label: "Asia", children: [{ value: "jp", label: "Japan" }] }];
const mount = (template, root) => createApp({ template, setup: () => ({ v: ref(null), w: ref([]), may: ref(new Date(2026, 4, 1)), colour: ref("#ff0000"), places, done }) }).use(ElementPlus).mount(root);

//== switch
//say turn the switch on
//do click switch ""
//is result === true
return `<el-switch @change="done" />`

//== date
//say pick 14 May 2026 in Day
//do click combobox "Day"
//do click gridcell "14"
//is result === '2026-05-14'
return `<el-date-picker v-model="v" :default-value="may" value-format="YYYY-MM-DD" aria-label="Day" placeholder="Day" @change="done" />`

//== date-typed
//say type 2026-05-14 into Day and press Enter
//do type combobox "Day" = 2026-05-14
//do press Enter
//is result === '2026-05-14'
return `<el-date-picker v-model="v" value-format="YYYY-MM-DD" aria-label="Day" placeholder="Day" @change="done" />`

//== date-month-ahead
//say pick 14 June 2026 in Day
//do click combobox "Day"
//do click button "Next Month"
//do click gridcell "14"
//is result === '2026-06-14'
return `<el-date-picker v-model="v" :default-value="may" value-format="YYYY-MM-DD" aria-label="Day" placeholder="Day" @change="done" />`

//== date-range
//say click From, pick the 14th and pick the 20th
//do click combobox "From"
//do click gridcell "14"
//do click gridcell "20"
//is result === '2026-05-14,2026-05-20'
return `<el-date-picker v-model="v" type="daterange" :default-value="may" value-format="YYYY-MM-DD" start-placeholder="From" end-placeholder="To" @change="done($event.join())" />`

//== month
//say choose Mar in Month
//do click combobox "Month"
//do click gridcell "Mar"
//is result === '2026-03'
return `<el-date-picker v-model="v" type="month" :default-value="may" value-format="YYYY-MM" placeholder="Month" @change="done" />`

//== date-time
//say pick the 14th in When and click OK
//do click combobox "When"
//do click gridcell "14"
//do click button "OK"
//is result.startsWith('2026-05-14 ')
return `<el-date-picker v-model="v" type="datetime" :default-value="may" value-format="YYYY-MM-DD HH:mm" placeholder="When" @change="done" />`

//== time
//say pick 09 in Time and click OK
//do click combobox "Time"
//do click * "09" #1
//do click button "OK"
//is result.startsWith('09:')
return `<el-time-picker v-model="v" value-format="HH:mm:ss" placeholder="Time" @change="done" />`

//== time-typed
//say set Time to 09:30:00 and press Enter
//do type combobox "Time" = 09:30:00
//do press Enter
//is result === '09:30:00'
return `<el-time-picker v-model="v" value-format="HH:mm:ss" placeholder="Time" @change="done" />`

//== time-select
//say choose 10:30 in Time
//do click combobox
//do click option "10:30"
//is result === '10:30'
return `<el-time-select v-model="v" start="08:30" step="00:15" end="18:30" placeholder="Time" @change="done" />`

//== cascader
//say choose Europe > Portugal in Place
//do click textbox "Place"
//do click menuitem "Europe"
//do click menuitem "Portugal"
//is result === 'eu,pt'
return `<el-cascader v-model="v" :options="places" placeholder="Place" @change="done($event.join())" />`

//== cascader-checked
//say click Place, open Europe and tick Italy
//do click textbox "Place"
//do click menuitem "Europe"
//do click checkbox in menuitem "Italy"
//is result === 'eu,it'
return `<el-cascader v-model="w" :options="places" :props="{ multiple: true }" placeholder="Place" @change="done($event.flat().join())" />`

//== colour
//say click the button, type #00ff00 into the field, press Enter and click OK
//do click button
//do type textbox = #00ff00
//do press Enter
//do click button "OK"
//is result.toLowerCase() === '#00ff00'
return `<el-color-picker v-model="colour" @change="done" />`

//== select
//say choose Asia in Place
//do click combobox
//do click option "Asia"
//is result === 'as'
return `<el-select v-model="v" placeholder="Place" aria-label="Place" @change="done"><el-option v-for="p in places" :key="p.value" :label="p.label" :value="p.value" /></el-select>`

//== tree-select
//say choose Europe > Italy in Place
//do click combobox
//do click treeitem "Europe"
//do click treeitem "Italy"
//is result === 'it'
return `<el-tree-select v-model="v" :data="places" aria-label="Place" @change="done" />`

//== slider
//say set the slider to 70
//do type slider = 70
//is result === 70
return `<el-slider v-model="v" style="width:300px;margin:30px" @change="done" />`

//== number
//say increase the number
//do click button "increase number"
//is result === 1
return `<el-input-number :model-value="0" @change="done" />`

//== transfer
//say tick Asia and click To the right
//do click checkbox "Asia"
//do click button "To the right"
//is result === 'as'
return `<el-transfer v-model="w" :data="places.map(p => ({ key: p.value, label: p.label }))" :button-texts="['To the left', 'To the right']" @change="done($event.join())" />`

//== table-select
//say tick Asia
//do click checkbox in row "Asia"
//is result === 'Asia'
return `<el-table :data="places.map(p => ({ label: p.label }))" @selection-change="done($event.map(r => r.label).join())"><el-table-column type="selection" /><el-table-column prop="label" label="Place" /></el-table>`

//== dropdown
//say open More and choose Archive
//do hover * "More"
//do click menuitem "Archive"
//is result === 'archive'
return `<el-dropdown @command="done"><el-button>More</el-button><template #dropdown><el-dropdown-menu><el-dropdown-item command="edit">Edit</el-dropdown-item><el-dropdown-item command="archive">Archive</el-dropdown-item></el-dropdown-menu></template></el-dropdown>`

//== message-box
//say click Delete and then OK
//do click button "Delete"
//do click button "OK"
//is result === 'confirm'
return `<el-button @click="$confirm('Really?', 'Delete').then(done)">Delete</el-button>`
