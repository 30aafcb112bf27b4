CREATE TABLE cities (
    id INTEGER PRIMARY KEY, name TEXT, state TEXT, latitude REAL, longitude REAL, timezone TEXT, area_code TEXT,
    cost REAL  -- what things cost there, compared with the list
);
CREATE TABLE stores (
    id INTEGER PRIMARY KEY, name TEXT, type TEXT, city INTEGER REFERENCES cities, address TEXT, telephone TEXT,
    latitude REAL, longitude REAL, rating REAL, price_level INTEGER
);
CREATE TABLE hours (type TEXT, weekday INTEGER, opens INTEGER, closes INTEGER, PRIMARY KEY (type, weekday));
CREATE TABLE products (
    id INTEGER PRIMARY KEY, department TEXT, type TEXT, name TEXT, brand TEXT, price REAL, rating REAL,
    colors TEXT, sizes TEXT, specifications TEXT
);
CREATE TABLE carried (chain TEXT, product INTEGER REFERENCES products, price REAL, PRIMARY KEY (chain, product));
-- What a shop would count is worked out here, so that the sample needs no hundred thousand rows.
CREATE VIEW stock AS
SELECT
    stores.id AS store,
    carried.product AS product,
    CASE
        WHEN (stores.id * 7919 + carried.product * 104729) % 100 < 12 THEN 0
        WHEN carried.price > 200 THEN (stores.id * 31 + carried.product * 17) % 6 + 1
        WHEN carried.price > 40 THEN (stores.id * 31 + carried.product * 17) % 14 + 2
        ELSE (stores.id * 31 + carried.product * 17) % 45 + 4
    END AS quantity,
    round(carried.price * cities.cost, 2) AS price
FROM stores
JOIN cities ON cities.id = stores.city
JOIN carried ON carried.chain = stores.name;
CREATE INDEX carried_products ON carried (product);
