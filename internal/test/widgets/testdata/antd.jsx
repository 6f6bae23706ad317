// npm: react@19.3.1 react-dom@19.3.1 antd@6.6.8
import React, { useState } from "react";
import { createRoot } from "react-dom/client";
import * as A from "antd";
const mount = (el, root) => createRoot(root).render(el);
const options = ["Apple", "Banana", "Cherry"].map(v => ({ value: v.toLowerCase(), label: v }));
const tree = [{ title: "Fruit", key: "f", value: "f", label: "Fruit", children: [{ title: "Pear", key: "p", value: "p", label: "Pear" }] }];

//== select
//say choose Banana in Fruit
//do click combobox "Fruit"
//do click generic "Banana"
//is result === 'banana'
return <A.Select aria-label="Fruit" style={{ width: 200 }} options={options} onChange={done} />

//== select-search
//say type che into Fruit and press Enter
//do type combobox "Fruit" = che
//do press Enter
//is result === 'cherry'
return <A.Select aria-label="Fruit" showSearch={{ optionFilterProp: "label" }} style={{ width: 200 }} options={options} onChange={done} />

//== select-multiple
//say choose Apple and Cherry in Fruit
//do click combobox "Fruit"
//do click generic "Apple"
//do click generic "Cherry"
//is result === 'apple,cherry'
return <A.Select aria-label="Fruit" mode="multiple" style={{ width: 300 }} options={options} onChange={v => done(v.join())} />

//== autocomplete
//say type Ban into Find and pick Banana
//do type combobox "Find" = Ban
//do click generic "Banana"
//is result === 'Banana'
return <A.AutoComplete aria-label="Find" style={{ width: 200 }} options={options.map(o => ({ value: o.label }))} showSearch={{ filterOption: (i, o) => o.value.includes(i) }} onSelect={done} />

//== select-clear
//say clear Fruit
//do click button "Clear"
//is result === 'none'
return <A.Select allowClear aria-label="Fruit" style={{ width: 200 }} defaultValue="apple" options={options} onChange={v => done(v ?? 'none')} />

//== cascader
//say choose Fruit > Pear in Area
//do click combobox "Area"
//do click menuitemcheckbox "Fruit"
//do click menuitemcheckbox "Pear"
//is result === 'f,p'
return <A.Cascader aria-label="Area" options={tree} onChange={v => done(v.join())} />

//== tree-select
//say choose Pear in Kind
//do click combobox "Kind"
//do click treeitem "Pear"
//is result === 'p'
return <A.TreeSelect aria-label="Kind" style={{ width: 200 }} treeDefaultExpandAll treeData={tree} onChange={done} />

//== tree
//say select Pear
//do click generic "Pear"
//is result === 'p'
return <A.Tree defaultExpandAll treeData={tree} onSelect={k => done(k.join())} />

//== tree-check
//say tick Pear
//do click checkbox "Pear"
//is result.includes('p')
return <A.Tree checkable defaultExpandAll treeData={tree} onCheck={k => done(k.join())} />

//== checkbox-group
//say tick Apple and Cherry
//do click checkbox "Apple"
//do click checkbox "Cherry"
//is result === 'apple,cherry'
return <A.Checkbox.Group options={options} onChange={v => done(v.join())} />

//== radio-buttons
//say choose Cherry
//do click radio "Cherry"
//is result === 'cherry'
return <A.Radio.Group options={options} optionType="button" onChange={e => done(e.target.value)} />

//== switch
//say turn on Dark
//do click switch "Dark"
//is result === true
return <A.Switch aria-label="Dark" onChange={done} />

//== segmented
//say switch to Banana
//do click radio "Banana"
//is result === 'banana'
return <A.Segmented options={options} onChange={done} />

//== slider
//say move the slider to 53
//do click slider
//do press ArrowRight 3
//is result === 53
return <A.Slider defaultValue={50} onChange={done} style={{ width: 200, margin: 50 }} />

//== rate
//say give it 3 stars
//do click radio "star" #3
//is result === 3
return <A.Rate onChange={done} />

//== input-number
//say set Count to 42
//do type spinbutton "Count" = 42
//is result === 42
return <A.InputNumber aria-label="Count" onChange={done} />

//== input-number-step
//say click Count and press the up arrow 3 times
//do click spinbutton "Count"
//do press ArrowUp 3
//is result === 8
return <A.InputNumber aria-label="Count" defaultValue={5} onChange={done} />

//== date
//say pick the 15th in Day
//do click textbox "Day"
//do click cell "15"
//is result.endsWith('-15')
return <A.DatePicker aria-label="Day" onChange={(d, s) => done(s)} />

//== collapse
//say expand More and click Inside
//do click button "More"
//do click button "Inside"
//is result === 'in'
return <A.Collapse items={[{ key: 1, label: "More", children: <A.Button onClick={() => done('in')}>Inside</A.Button> }]} />

//== dropdown
//say hover over Actions and click Copy
//do hover button "Actions"
//do click menuitem "Copy"
//is result === 'copy'
return <A.Dropdown menu={{ items: [{ key: "cut", label: "Cut" }, { key: "copy", label: "Copy" }], onClick: e => done(e.key) }}><A.Button>Actions</A.Button></A.Dropdown>

//== menu
//say open the File menu and choose Open
//do hover menuitem "File"
//do click menuitem "Open"
//is result === 'open'
return <A.Menu mode="horizontal" items={[{ key: "f", label: "File", children: [{ key: "new", label: "New" }, { key: "open", label: "Open" }] }]} onClick={e => done(e.key)} />

//== modal
//say click Delete and then OK
//do click button "Delete"
//do click button "OK"
//is result === 'ok'
function App() { const [o, set] = useState(false); return <><A.Button onClick={() => set(true)}>Delete</A.Button><A.Modal title="Sure?" open={o} onOk={() => done('ok')}>It is gone then.</A.Modal></> }
return <App />

//== popconfirm
//say click Delete and then Yes
//do click button "Delete"
//do click button "Yes"
//is result === 'yes'
return <div style={{ padding: 100 }}><A.Popconfirm title="Sure?" okText="Yes" cancelText="No" onConfirm={() => done('yes')}><A.Button>Delete</A.Button></A.Popconfirm></div>

//== tabs
//say go to the Second tab
//do click tab "Second"
//is result === '2'
return <A.Tabs onChange={done} items={[{ key: "1", label: "First" }, { key: "2", label: "Second" }]} />

//== pagination
//say go to page 3
//do click * "3" in list "3"
//is result === 3
return <A.Pagination total={90} onChange={done} />

//== table-select
//say select the Bob row
//do click checkbox in row "Bob"
//is result === 'Bob'
return <A.Table rowSelection={{ onChange: k => done(k.join()) }} rowKey="name" columns={[{ title: "Name", dataIndex: "name" }]} dataSource={["Ada", "Bob"].map(name => ({ name }))} />

//== table-sort
//say sort by Age
//do click columnheader "Age"
//is result === 'ascend'
return <A.Table rowKey="age" onChange={(p, f, s) => done(s.order)} columns={[{ title: "Age", dataIndex: "age", sorter: (a, b) => a.age - b.age }]} dataSource={[{ age: 2 }, { age: 1 }]} />

//== transfer
//say tick Banana and click right
//do click checkbox in listitem "Banana"
//do click button "right"
//is result === 'banana'
return <A.Transfer dataSource={options.map(o => ({ key: o.value, title: o.label }))} render={i => i.title} onChange={k => done(k.join())} />

//== form
//say set User to ada, Password to secret and log in
//do type textbox "User" = ada
//do type textbox "Password" = secret
//do click button "Log in"
//is result === 'ada/secret'
return <A.Form onFinish={v => done(v.u + '/' + v.p)}><A.Form.Item label="User" name="u"><A.Input /></A.Form.Item><A.Form.Item label="Password" name="p"><A.Input.Password /></A.Form.Item><A.Button htmlType="submit">Log in</A.Button></A.Form>

//== upload
//say upload photo.txt
//do upload button "Upload" = photo.txt
//is result === 'photo.txt'
return <A.Upload beforeUpload={f => { done(f.name); return false }}><A.Button>Upload</A.Button></A.Upload>

//== otp
//say type 1234 into the first field
//do click textbox "OTP Input 1"
//do press 1
//do press 2
//do press 3
//do press 4
//is result === '1234'
return <A.Input.OTP length={4} onChange={done} />

//== drawer
//say click Open and write hi into Note
//do click button "Open"
//do type textbox "Note" = hi
//is result === 'hi'
function App() { const [o, set] = useState(false); return <><A.Button onClick={() => set(true)}>Open</A.Button><A.Drawer open={o} title="Side"><A.Input aria-label="Note" onChange={e => done(e.target.value)} /></A.Drawer></> }
return <App />
