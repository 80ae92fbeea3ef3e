-- A sum whose additions wait for all that follows them, on the stack; or one that adds
-- as it goes.
module Main (main) where

import Data.List (foldl')
import System.Environment (getArgs)

main :: IO ()
main = do
  [how] <- getArgs
  let numbers = [1 .. 2000000 :: Integer]
  print (if how == "deep" then foldr (+) 0 numbers else foldl' (+) 0 numbers)
