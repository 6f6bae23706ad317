// npm: vue@3.5.45 primevue@4.5.5 @primeuix/themes@2.0.3 vuetify@3.13.5
import { createApp, ref } from "vue/dist/vue.esm-bundler.js";
import PrimeVue from "primevue/config";
import Aura from "@primeuix/themes/aura";
import * as P from "primevue";
import { createVuetify } from "vuetify";
import * as V from "vuetify/components";
import * as directives from "vuetify/directives";
import "vuetify/styles";
const fruit = ["Apple", "Banana", "Cherry"];
const mount = (template, root) => {
  const app = createApp({ template, setup: () => ({ v: ref(null), w: ref([]), open: ref(false), page: ref(1), fruit, done, people: ["Ada", "Bob"].map(name => ({ name, age: name.length })) }) });
  if (template.includes('<v-')) app.use(createVuetify({ components: V, directives }));
  else {
    app.use(PrimeVue, { theme: { preset: Aura } });
    for (const n of ["Select", "MultiSelect", "AutoComplete", "Checkbox", "RadioButton", "ToggleSwitch", "Slider", "Rating", "InputNumber", "DatePicker", "Button", "Dialog", "Accordion", "AccordionPanel", "AccordionHeader", "AccordionContent",
      "Tabs", "TabList", "Tab", "TabPanels", "TabPanel", "DataTable", "Column", "Paginator", "Tree", "Listbox", "SelectButton", "Menu", "Chip", "InputOtp"]) app.component('P' + n, P[n]);
  }
  app.mount(root);
};

//== prime-select
//say click Choose and pick Banana
//do click combobox "Choose"
//do click option "Banana"
//is result === 'Banana'
return `<PSelect v-model="v" :options="fruit" placeholder="Choose" @change="done($event.value)" />`

//== prime-multiselect
//say choose Apple and Cherry in Choose
//do click generic [cursor:pointer]
//do click option "Apple"
//do click option "Cherry"
//is result === 'Apple,Cherry'
return `<PMultiSelect v-model="w" :options="fruit" aria-label="Choose" placeholder="Choose" @change="done($event.value.join())" />`

//== prime-checkbox
//say tick Agree
//do click checkbox "Agree"
//is result === true
return `<PCheckbox v-model="v" binary inputId="a" @update:modelValue="done" /><label for="a">Agree</label>`

//== prime-radio
//say choose Cherry
//do click radio "Cherry"
//is result === 'Cherry'
return `<div v-for="f in fruit"><PRadioButton v-model="v" :value="f" :inputId="f" @update:modelValue="done" /><label :for="f">{{f}}</label></div>`

//== prime-switch
//say turn on Dark
//do click switch "Dark"
//is result === true
return `<PToggleSwitch v-model="v" aria-label="Dark" @update:modelValue="done" />`

//== prime-slider
//say set the volume to 3
//do click slider "Volume"
//do press ArrowRight 3
//is result === 3
return `<div style="margin:40px;width:200px"><PSlider v-model="v" aria-label="Volume" @update:modelValue="done" /></div>`

//== prime-rating
//say give it 4 stars
//do click radio "4 stars"
//is result === 4
return `<PRating v-model="v" @update:modelValue="done" />`

//== prime-number
//say type 25 into the field and press Tab
//do slowly spinbutton = 25
//do press Tab
//is result === 25
return `<PInputNumber v-model="v" @update:modelValue="done" />`

//== prime-date
//say click the field and pick the 14th
//do click combobox
//do click * "14"
//is result === 14
return `<PDatePicker v-model="v" @update:modelValue="done($event.getDate())" />`

//== prime-dialog
//say click Edit and then Save
//do click button "Edit"
//do click button "Save"
//is result === 'saved'
return `<PButton label="Edit" @click="open = true" /><PDialog v-model:visible="open" modal header="Profile"><PButton label="Save" @click="done('saved')" /></PDialog>`

//== prime-tabs
//say go to tab Two
//do click tab "Two"
//is result === 'two'
return `<PTabs value="one" @update:value="done"><PTabList><PTab value="one">One</PTab><PTab value="two">Two</PTab></PTabList></PTabs>`

//== prime-table-select
//say select Bob
//do click radio in row "Bob"
//is result === 'Bob'
return `<PDataTable v-model:selection="v" :value="people" dataKey="name" @row-select="done($event.data.name)"><PColumn selectionMode="single" /><PColumn field="name" header="Name" /></PDataTable>`

//== prime-table-sort
//say sort by Age
//do click columnheader "Age"
//is result === 'age'
return `<PDataTable :value="people" @sort="done($event.sortField)"><PColumn field="age" header="Age" sortable /></PDataTable>`

//== prime-paginator
//say go to page 3
//do click button "Page 3"
//is result === 2
return `<PPaginator :rows="10" :totalRecords="60" @page="done($event.page)" />`

//== prime-listbox
//say select Banana
//do click option "Banana"
//is result === 'Banana'
return `<PListbox v-model="v" :options="fruit" @change="done($event.value)" />`

//== prime-listbox-multiple
//say select Apple and Cherry
//do click option "Banana"
//do select listbox "" = Apple|Cherry
//is result === 'Apple,Cherry'
return `<PListbox multiple v-model="w" :options="fruit" @change="done([...$event.value].sort().join())" />`

//== prime-listbox-keys
//say select Apple and Cherry
//do click option "Banana"
//do select listbox "" = Apple|Cherry
//is result === 'Apple,Cherry'
return `<PListbox multiple metaKeySelection v-model="w" :options="fruit" @change="done([...$event.value].sort().join())" />`

//== prime-selectbutton
//say choose Cherry
//do click button "Cherry"
//is result === 'Cherry'
return `<PSelectButton v-model="v" :options="fruit" @change="done($event.value)" />`

//== prime-chip
//say remove Ada
//do click generic after "Ada"
//is result === 'removed'
return `<PChip label="Ada" removable @remove="done('removed')" />`

//== vuetify-select
//say choose Banana in Fruit
//do click combobox "Fruit"
//do click option "Banana"
//is result === 'Banana'
return `<v-app><v-select label="Fruit" :items="fruit" @update:modelValue="done" /></v-app>`

//== vuetify-autocomplete
//say choose Cherry in Fruit
//do slowly combobox "Fruit" = che
//do click option "Cherry"
//is result === 'Cherry'
return `<v-app><v-autocomplete label="Fruit" :items="fruit" @update:modelValue="done" /></v-app>`

//== vuetify-combobox
//say type new into Tag and press Enter
//do type combobox "Tag" = new
//do press Enter
//is result === 'new'
return `<v-app><v-combobox label="Tag" :items="fruit" @update:modelValue="done" /></v-app>`

//== vuetify-checkbox
//say tick Agree
//do click checkbox "Agree"
//is result === true
return `<v-app><v-checkbox label="Agree" @update:modelValue="done" /></v-app>`

//== vuetify-switch
//say turn on Wifi
//do click * "Wifi"
//is result === true
return `<v-app><v-switch label="Wifi" @update:modelValue="done" /></v-app>`

//== vuetify-radio
//say choose Two
//do click radio "Two"
//is result === '2'
return `<v-app><v-radio-group @update:modelValue="done"><v-radio label="One" value="1" /><v-radio label="Two" value="2" /></v-radio-group></v-app>`

//== vuetify-slider
//say set the volume to 20
//do click slider
//do press ArrowRight 2
//is result > 0
return `<v-app><v-slider label="Volume" style="margin:40px" @update:modelValue="done" /></v-app>`

//== vuetify-text
//say set Name to Ada
//do type textbox "Name" = Ada
//is result === 'Ada'
return `<v-app><v-text-field label="Name" @update:modelValue="done" /></v-app>`

//== vuetify-dialog
//say click Open and then Agree
//do click button "Open"
//do click button "Agree"
//is result === 'agreed'
return `<v-app><v-dialog><template #activator="{ props }"><v-btn v-bind="props">Open</v-btn></template><v-card><v-btn @click="done('agreed')">Agree</v-btn></v-card></v-dialog></v-app>`

//== vuetify-menu
//say open More and click Archive
//do click button "More"
//do click * "Archive"
//is result === 'archive'
return `<v-app><v-menu><template #activator="{ props }"><v-btn v-bind="props">More</v-btn></template><v-list><v-list-item title="Edit" /><v-list-item title="Archive" @click="done('archive')" /></v-list></v-menu></v-app>`

//== vuetify-tabs
//say go to tab Two
//do click tab "Two"
//is result === 'two'
return `<v-app><v-tabs @update:modelValue="done"><v-tab value="one">One</v-tab><v-tab value="two">Two</v-tab></v-tabs></v-app>`

//== vuetify-panels
//say expand Item and click Inside
//do click button "Item"
//do click button "Inside"
//is result === 'in'
return `<v-app><v-expansion-panels><v-expansion-panel title="Item"><template #text><v-btn @click="done('in')">Inside</v-btn></template></v-expansion-panel></v-expansion-panels></v-app>`

//== vuetify-pagination
//say go to page 3
//do click button "Go to page 3"
//is result === 3
return `<v-app><v-pagination :length="5" @update:modelValue="done" /></v-app>`

//== vuetify-rating
//say give it 4 stars
//do click radio "Rating 4 of 5"
//is result == 4
return `<v-app><v-rating @update:modelValue="done" /></v-app>`

//== vuetify-table-select
//say tick Bob
//do click checkbox in row "Bob"
//is result === 'Bob'
return `<v-app><v-data-table show-select item-value="name" :items="people" :headers="[{title:'Name',key:'name'}]" @update:modelValue="done($event.join())" /></v-app>`

//== vuetify-chips
//say choose Banana
//do click * "Banana"
//is result === 'Banana'
return `<v-app><v-chip-group @update:modelValue="done(fruit[$event])"><v-chip v-for="f in fruit" :key="f">{{f}}</v-chip></v-chip-group></v-app>`

//== vuetify-file
//say upload photo.txt to Photo
//do upload button "Photo" = photo.txt
//is result === 'photo.txt'
return `<v-app><v-file-input label="Photo" @update:modelValue="done($event.name)" /></v-app>`
