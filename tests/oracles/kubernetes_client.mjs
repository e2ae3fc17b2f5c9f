// SPDX-License-Identifier: Apache-2.0
// Kubernetes' own JavaScript client against a node: `node kubernetes_client.mjs KUBECONFIG`. Says what happened, a line
// each, in an order that does not depend on timing; stops with a failure at the first thing that is not as it should be.
import assert from 'node:assert/strict';
import {
    ApiException, ApiextensionsV1Api, AppsV1Api, CoreV1Api, CustomObjectsApi, KubeConfig, KubernetesObjectApi,
    PatchStrategy, Watch, makeInformer, setHeaderOptions,
} from '@kubernetes/client-node';

const config = new KubeConfig();
config.loadFromFile(process.argv[2]);
const core = config.makeApiClient(CoreV1Api);
const apps = config.makeApiClient(AppsV1Api);
const objects = KubernetesObjectApi.makeApiClient(config);
const namespace = 'default';
const maps = `/api/v1/namespaces/${namespace}/configmaps`;
const as = (type) => setHeaderOptions('Content-Type', type);
const say = (...words) => console.log(...words);

function configMap(name, data, more = {}) {
    return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...more }, data };
}

/** The status that a request is refused with. */
async function refused(request) {
    try {
        await request;
    } catch (error) {
        assert.ok(error instanceof ApiException, String(error));
        const body = typeof error.body === 'string' ? JSON.parse(error.body) : error.body;
        assert.equal(body.code, error.code);
        return body;
    }
    assert.fail('it was not refused');
}

/** What happens, in the order it is told; `until` waits for the nth. */
class Told {
    events = [];
    waiting = [];
    tell(event) {
        this.events.push(event);
        this.waiting = this.waiting.filter(({ count, done }) => this.events.length < count || done());
    }
    until(count) {
        if (this.events.length >= count) return Promise.resolve();
        return new Promise((done) => this.waiting.push({ count, done }));
    }
}

async function readsAndLists() {
    const spaces = await core.listNamespace();
    assert.ok(spaces.items.some((space) => space.metadata.name === namespace));
    await core.createNamespacedConfigMap({ namespace, body: configMap('a', { x: '1' }), fieldManager: 'js' });
    const a = await core.readNamespacedConfigMap({ name: 'a', namespace });
    say('read', a.metadata.name, JSON.stringify(a.data), a.metadata.creationTimestamp instanceof Date);
    for (const name of ['b', 'c']) await core.createNamespacedConfigMap({ namespace, body: configMap(name, {}) });
    const names = [];
    let page = {};
    do {
        page = await core.listNamespacedConfigMap({ namespace, limit: 2, _continue: page.metadata?._continue });
        names.push(...page.items.map((item) => item.metadata.name));
    } while (page.metadata._continue);
    say('listed in pages', names.filter((name) => name.length === 1).join(' '));
    say('twice', (await refused(core.createNamespacedConfigMap({ namespace, body: configMap('a', {}) }))).reason);
    say('nothing', (await refused(core.readNamespacedConfigMap({ name: 'z', namespace }))).message);
}

async function watches() {
    const from = (await core.listNamespacedConfigMap({ namespace })).metadata.resourceVersion;
    const told = new Told();
    const ended = new Told();
    const request = await new Watch(config).watch(
        maps, { resourceVersion: from, labelSelector: 'watched=yes' },
        (type, object) => told.tell(`${type} ${object.metadata.name}`), () => ended.tell('ended'));
    const labels = { watched: 'yes' };
    await core.createNamespacedConfigMap({ namespace, body: configMap('w', { x: '1' }, { labels }) });
    await core.createNamespacedConfigMap({ namespace, body: configMap('unwatched', {}) });
    await core.replaceNamespacedConfigMap({ name: 'w', namespace, body: configMap('w', { x: '2' }, { labels }) });
    await core.deleteNamespacedConfigMap({ name: 'w', namespace });
    await told.until(3);
    request.abort();
    await ended.until(1);
    say('watched', told.events.join(', '));
}

async function informs() {
    const told = new Told();
    const informer = makeInformer(config, maps, () => core.listNamespacedConfigMap({ namespace }));
    const about = (what) => (object) => {
        if (object.metadata.name.startsWith('i')) told.tell(`${what} ${object.metadata.name}`);
    };
    for (const verb of ['add', 'update', 'delete']) informer.on(verb, about(verb));
    informer.on('error', (error) => told.tell(`error ${error}`));
    await core.createNamespacedConfigMap({ namespace, body: configMap('i1', { x: '1' }) });
    await informer.start();
    await told.until(1);
    await core.createNamespacedConfigMap({ namespace, body: configMap('i2', { x: '1' }) });
    await told.until(2);
    await core.patchNamespacedConfigMap(
        { name: 'i2', namespace, body: { data: { x: '2' } } }, as(PatchStrategy.MergePatch));
    await told.until(3);
    assert.equal(informer.get('i2', namespace).data.x, '2');
    await core.deleteNamespacedConfigMap({ name: 'i1', namespace });
    await told.until(4);
    assert.equal(informer.get('i1', namespace), undefined);
    say('informed', told.events.join(', '));
    await informer.stop();
}

async function patches() {
    const patch = (body, type) => core.patchNamespacedConfigMap({ name: 'a', namespace, body }, as(type));
    let a = await patch({ data: { x: null, y: '1' } }, PatchStrategy.MergePatch);
    say('merge patch', JSON.stringify(a.data));
    a = await patch([{ op: 'add', path: '/data/z', value: '2' }], PatchStrategy.JsonPatch);
    say('JSON patch', JSON.stringify(a.data));
    a = await patch({ metadata: { finalizers: ['example.com/f'] } }, PatchStrategy.StrategicMergePatch);
    say('strategic merge patch', JSON.stringify(a.metadata.finalizers));
    await patch({ metadata: { finalizers: null } }, PatchStrategy.MergePatch);
    say('patch that does not fit',
        (await refused(patch([{ op: 'test', path: '/data/y', value: '9' }], PatchStrategy.JsonPatch))).code);
}

/** What each manager owns, by its name. */
function owners(object) {
    return Object.fromEntries(object.metadata.managedFields.map(
        (entry) => [`${entry.manager} ${entry.operation}`, entry.fieldsV1]));
}

async function applies() {
    const apply = (body, fieldManager, force) => core.patchNamespacedConfigMap(
        { name: body.metadata.name, namespace, body, fieldManager, force }, as(PatchStrategy.ServerSideApply));
    let map = await apply(configMap('applied', { x: '1', y: '1' }), 'one');
    const first = map.metadata.resourceVersion;
    say('applied', JSON.stringify(map.data), JSON.stringify(owners(map)));
    map = await apply(configMap('applied', { x: '1', y: '1' }), 'one');
    assert.equal(map.metadata.resourceVersion, first);
    const conflict = await refused(apply(configMap('applied', { x: '2' }), 'two'));
    say('conflict', conflict.code, conflict.message, JSON.stringify(conflict.details.causes));
    map = await apply(configMap('applied', { x: '2' }), 'two', true);
    say('forced', JSON.stringify(map.data), JSON.stringify(owners(map)));
    map = await apply(configMap('applied', {}), 'one');
    say('left', JSON.stringify(map.data), JSON.stringify(owners(map)));
    say('nobody applies', (await refused(apply(configMap('applied', {})))).message);
}

async function knowsAnyObject() {
    const labels = { app: 'web' };
    const deployment = {
        apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web', namespace },
        spec: {
            replicas: 2, selector: { matchLabels: labels },
            template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'nginx' }] } },
        },
    };
    await objects.patch(deployment, undefined, undefined, 'js', undefined, PatchStrategy.ServerSideApply);
    const web = await objects.read({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web', namespace } });
    say('deployment', web.spec.replicas, web.spec.template.spec.containers[0].imagePullPolicy);
    const scaled = await apps.patchNamespacedDeploymentScale(
        { name: 'web', namespace, body: { spec: { replicas: 5 } } }, as(PatchStrategy.MergePatch));
    say('scaled', scaled.kind, scaled.spec.replicas);
    const after = await apps.readNamespacedDeployment({ name: 'web', namespace });
    say('by', after.metadata.managedFields.map((entry) => `${entry.operation}/${entry.subresource ?? ''}`).join(' '));
    const list = await objects.list('apps/v1', 'Deployment', namespace);
    say('listed', list.items.map((item) => item.metadata.name).join(' '));
    await objects.delete(deployment);
}

// The client's own names for members that JavaScript spells otherwise.
const kind = { group: 'example.com', version: 'v1', plural: 'gardens' };
const definition = {
    apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition',
    metadata: { name: `${kind.plural}.${kind.group}` },
    spec: {
        group: kind.group, scope: 'Namespaced', names: { plural: kind.plural, singular: 'garden', kind: 'Garden' },
        versions: [{
            name: 'v1', served: true, storage: true, subresources: { status: {} },
            schema: {
                openAPIV3Schema: {
                    type: 'object',
                    properties: {
                        spec: {
                            type: 'object',
                            properties: {
                                size: { type: 'integer', _default: 3 },
                                beds: {
                                    type: 'array', x_kubernetes_list_type: 'map',
                                    x_kubernetes_list_map_keys: ['name'],
                                    items: {
                                        type: 'object', required: ['name'],
                                        properties: { name: { type: 'string' }, plant: { type: 'string' } },
                                    },
                                },
                            },
                        },
                        status: { type: 'object', x_kubernetes_preserve_unknown_fields: true },
                    },
                },
            },
        }],
    },
};

async function definesKinds() {
    const definitions = config.makeApiClient(ApiextensionsV1Api);
    const custom = config.makeApiClient(CustomObjectsApi);
    const of = { ...kind, namespace };
    const garden = (spec) => ({ apiVersion: 'example.com/v1', kind: 'Garden', metadata: { name: 'g' }, spec });
    const told = new Told();
    const request = await new Watch(config).watch(
        '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {},
        (type, object) => {
            const established = object.status?.conditions?.find((condition) => condition.type === 'Established');
            if (object.metadata.name === definition.metadata.name && established?.status === 'True') told.tell(type);
        }, () => {});
    await definitions.createCustomResourceDefinition({ body: definition });
    await told.until(1);
    request.abort();
    const events = new Told();
    const informer = makeInformer(
        config, `/apis/example.com/v1/namespaces/${namespace}/gardens`, () => custom.listNamespacedCustomObject(of));
    for (const verb of ['add', 'update', 'delete'])
        informer.on(verb, (object) => events.tell(`${verb} ${object.metadata.name}`));
    await informer.start();
    let g = await custom.createNamespacedCustomObject({
        ...of, body: garden({ beds: [{ name: 'a', plant: 'rose' }] }), fieldManager: 'js' });
    say('garden', JSON.stringify(g.spec));
    await events.until(1);
    g = await custom.patchNamespacedCustomObject(
        { ...of, name: 'g', body: { spec: { size: 4 } } }, as(PatchStrategy.MergePatch));
    say('grown', g.spec.size, g.metadata.generation);
    const apply = (beds, fieldManager, force) => custom.patchNamespacedCustomObject(
        { ...of, name: 'g', body: garden({ beds }), fieldManager, force }, as(PatchStrategy.ServerSideApply));
    g = await apply([{ name: 'b', plant: 'mint' }], 'gardener');
    say('planted', JSON.stringify(g.spec.beds));
    say('contested', (await refused(apply([{ name: 'a', plant: 'thyme' }], 'gardener'))).message);
    g = await apply([{ name: 'a', plant: 'thyme' }], 'gardener', true);
    say('replanted', JSON.stringify(g.spec.beds), JSON.stringify(owners(g)));
    say('not a garden', (await refused(custom.patchNamespacedCustomObject(
        { ...of, name: 'g', body: { spec: { size: 'x' } } }, as(PatchStrategy.MergePatch)))).reason);
    say('no strategy for it', (await refused(custom.patchNamespacedCustomObject(
        { ...of, name: 'g', body: {} }, as(PatchStrategy.StrategicMergePatch)))).code);
    const list = await custom.listNamespacedCustomObject(of);
    say('gardens', list.kind, list.items.length);
    await custom.deleteNamespacedCustomObject({ ...of, name: 'g' });
    await events.until(5);
    say('informed', events.events.join(', '));
    await informer.stop();
    await definitions.deleteCustomResourceDefinition({ name: definition.metadata.name });
    assert.equal((await refused(custom.listNamespacedCustomObject(of))).code, 404);
}

await readsAndLists();
await watches();
await informs();
await patches();
await applies();
await knowsAnyObject();
await definesKinds();
