import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

let child, sandbox;

before(async () => {
  child = spawn(process.env.PUSHFAN ?? "pushfan", ["sandbox", "-o", "json"], { stdio: ["ignore", "pipe", "inherit"] });
  for await (const line of createInterface({ input: child.stdout })) {
    sandbox = JSON.parse(line); // comes when all is ready
    break;
  }
  assert.ok(sandbox, "pushfan sandbox does not start");
});

after(() => child.kill());

async function ask(method, url, body, headers = {}) {
  const answer = await fetch(url, {
    method,
    headers: { Authorization: `Bearer ${sandbox.key}`, "Content-Type": "application/json", ...headers },
    body: body && JSON.stringify(body),
  });
  const text = await answer.text();
  return { status: answer.status, after: answer.headers.get("Retry-After"), json: text && JSON.parse(text) };
}

// Stands for your service. It repeats what may be repeated, under the same key.
async function notify(order, user) {
  for (let turn = 0; turn < 10; turn += 1) {
    const body = { audience: { users: [user] }, message: { title: `Order ${order} shipped` } };
    const answer = await ask("POST", `${sandbox.gateway}/v1/requests`, body, { "Idempotency-Key": `order-${order}` });
    if (answer.status === 200 || answer.status === 202) return answer.json.id;
    assert.ok([409, 429, 502, 503, 504].includes(answer.status), `${answer.status}`);
    await sleep(1000 * (answer.after ?? 0.1));
  }
  throw new Error(`order ${order} is not published`);
}

for (const [order, fault] of ["", "status=503,count=2", "status=429,retry-after=1,count=1", "status=504,count=1"].entries()) {
  test(`a customer hears once, with the fault '${fault}'`, async () => {
    const device = { platform: "apns", handle: "a1b2c3d4".repeat(8), user: "alice" };
    await ask("PUT", `${sandbox.gateway}/v1/installations/alice-phone`, device);
    await ask("PUT", sandbox.gateway_faults, [fault]);
    const id = await notify(order, "alice");
    const request = await ask("GET", `${sandbox.gateway}/v1/requests/${id}?wait=20`);
    assert.equal(request.json.state, "sent");
    const devices = (await ask("GET", `${sandbox.hub}/devices?tag=username:alice`)).json;
    const rings = devices.flatMap((found) => found.rung).filter((ring) => ring.body.includes(`Order ${order} shipped`));
    assert.equal(rings.length, 1);
  });
}
